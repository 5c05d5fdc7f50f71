import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { OpenJournal } from '../journal/contracts/journal.ts'
import { copyJournal } from '../journal/sqlite/copy.ts'
import { dropRemains, sizeWithRemains } from '../journal/sqlite/connect.ts'
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
import type { Hold, OwnCopies, Starting, Store } from './store.ts'
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
    async open({ log }) {
      const journal = open(file, 'own')
      writeAnewOnce(file, clock, log)
      return journal
    },
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

/** Earlier versions left remains of what was erased in the pages of a restored journal. */
function writeAnewOnce(file: string, clock: World['clock'], log: Starting['log']): void {
  const bytes = sizeWithRemains(file)
  if (bytes === undefined) return
  log.info({ file, bytes }, 'the journal is written anew, once, so that nothing erased is in it')
  const begun = clock.elapsed()
  try {
    dropRemains(file)
    log.info({ file, ms: Math.round(clock.elapsed() - begun) }, 'the journal was written anew')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const hint =
      'Give its disk and the folder for temporary files as much free space each as the journal takes.'
    log.warn({ file, reason, hint }, `${notWritten}: tried again at the next start`)
  }
}

const notWritten = 'the journal cannot be written anew, and may have remains of erased signups'

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
