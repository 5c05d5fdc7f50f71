import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { OpenJournal } from '../journal/contracts/journal.ts'
import { copyJournal } from '../journal/sqlite/copy.ts'
import {
  openSqliteReader,
  openSqliteSites,
  type SqliteOptions,
} from '../journal/sqlite/sqlite-journal.ts'
import { isLocked, lockDirectory, makeDataDirectory } from '../platform/node/directory-lock.ts'
import { filesWith } from '../platform/node/files-with.ts'
import { journalFile, keepDataPrivate, watchLock, workbookFolder } from './data-folder.ts'
import { policiesOf } from './journal-policy.ts'
import { assertNotMoved } from './moved-mark.ts'
import { restoreJournal } from './restore.ts'
import type { Hold, OwnCopies, Store } from './store.ts'
import type { World } from './world.ts'

/** The journal is a SQLite file in `DATA_DIR`, which one service uses. */
export function folderStore(config: Config, { clock }: Pick<World, 'clock'>): Store {
  const { dataDir } = config
  const file = join(dataDir, journalFile)
  const open = (
    path: string,
    access: NonNullable<SqliteOptions['access']>,
    others?: Iterable<string>,
  ): OpenJournal => {
    // A move keeps others from writing until its mark is there. So who writes after it sees the mark.
    const assertWritable = () => assertNotMoved(dataDir)
    assertWritable()
    return openSqliteSites(path, policiesOf(config, others), { clock, access, assertWritable })
  }
  return {
    open: async () => open(file, 'own'),
    async openBeside(others) {
      await makeDataDirectory(dataDir)
      return open(file, 'beside', others)
    },
    openForTrial: async () => open(existsSync(file) ? file : ':memory:', 'beside'),
    async openReader() {
      assertNotMoved(dataDir)
      return openSqliteReader(
        file,
        config.sites.map(({ name }) => name),
        { clock },
      )
    },
    hold: () => holdFolder(dataDir, clock),
    isInUse: async () => isLocked(dataDir),
    filesWith: (text) => filesWith(dataDir, text),
    copies: copiesOf(config, file, clock),
  }
}

async function holdFolder(dataDir: string, clock: World['clock']): Promise<Hold> {
  const lock = await lockDirectory(dataDir, journalFile, clock)
  return {
    keepPrivate: (log) => keepDataPrivate(dataDir, log),
    watch: (log, lost) => watchLock(lock, dataDir, log, lost),
    [Symbol.dispose]: () => lock[Symbol.dispose](),
  }
}

function copiesOf(config: Config, file: string, clock: World['clock']): OwnCopies {
  const { dataDir, sites } = config
  const sheets = sites
    .filter(({ spreadsheet }) => spreadsheet.kind === 'workbook')
    .map(({ name }) => workbookFolder(dataDir, name))
  return {
    kind: 'own',
    copyTo: (copy, stop) => copyJournal(file, copy, stop),
    restore: (backup, { replace }) => restoreJournal(config, backup, { clock, replace }),
    notIncluded: [...sheets, join(dataDir, 'journal.secret')],
  }
}
