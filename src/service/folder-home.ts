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
import {
  DirectoryHeld,
  isLocked,
  lockDirectory,
  makeDataDirectory,
} from '../platform/node/directory-lock.ts'
import { filesWith } from '../platform/node/files-with.ts'
import {
  assertNotMoved,
  journalFile,
  keepDataPrivate,
  movedTo,
  watchLock,
  workbookFolder,
} from './data-folder.ts'
import { policiesOf } from './journal-policy.ts'
import { putBack } from '../journal/sqlite/put-back.ts'
import type { Hold, OwnCopies, JournalHome, Starting } from '../operations/journal-home.ts'
import { patiently } from './patiently.ts'
import type { World } from './world.ts'

/** The journal is a SQLite file in `DATA_DIR`, which one service uses. */
export function folderHome(config: Config, { clock }: Pick<World, 'clock'>): JournalHome {
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
      const names = config.sites.map(({ name }) => name)
      return openSqliteReader(file, names, { clock })
    },
    hold: (starting) => holdFolder(dataDir, clock, starting),
    isInUse: async () => isLocked(dataDir),
    filesWith: (text) => filesWith(dataDir, text),
    leftBehind: () => undefined,
    copies: copiesOf(config, file, clock),
  }
}

/** A command may hold the folder for a moment, and a service that stops finishes its work first. */
const patience = {
  maxMs: 10_000,
  restMs: 200,
  told: 'Another process uses DATA_DIR.',
  mayPass: (error: Error) => error instanceof DirectoryHeld,
} as const

async function holdFolder(
  dataDir: string,
  clock: World['clock'],
  starting: Starting | undefined,
): Promise<Hold> {
  const take = () => lockDirectory(dataDir, journalFile, clock)
  const lock = await (starting ? patiently(take, { ...starting, ...patience, clock }) : take())
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
    async copyTo(copy, stop) {
      movedTo(dataDir) // Says what to do when the folder cannot be used. A moved journal can be copied.
      return copyJournal(file, copy, stop)
    },
    async restore(backup, { replace }) {
      const whenHeld = 'Stop that process, restore, and start it again.'
      using _lock = await lockDirectory(dataDir, journalFile, clock, whenHeld)
      const options = { policies: policiesOf(config), clock, accounts: accountsOf(config) }
      return await putBack(file, backup, { ...options, replace })
    },
    notIncluded: [...sheets, join(dataDir, 'journal.secret')],
  }
}

/** The accounts of all sites, each once. */
function accountsOf({ sites }: Pick<Config, 'sites'>) {
  const accounts = sites.flatMap(({ spreadsheet }) => {
    if (spreadsheet.kind === 'workbook') return []
    const { credentials, quota } = spreadsheet
    return [[credentials.email, { name: credentials.email, quota }] as const]
  })
  return [...new Map(accounts).values()]
}
