import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { type TakeOptions, takeJournal } from '../journal/postgres/take-journal.ts'
import { openWholeJournal } from '../journal/sqlite/whole-journal.ts'
import type { Clock } from '../platform/clock.ts'
import { lockDirectory } from '../platform/node/directory-lock.ts'
import { journalFile, markMoved, movedTo } from './data-folder.ts'
import { readUsable } from './database-home.ts'

export type MoveOptions = Omit<TakeOptions, 'beforeCommit'> & { readonly clock: Clock }

/**
 * Moves the journal in `DATA_DIR` to the untouched database of this URL, and compares all rows. The journal
 * stays in `DATA_DIR`, with a mark on it. After a stop at any point the next call begins anew, or finds that it
 * was done. Returns how many rows each table has; undefined when the journal was moved before.
 *
 * @throws Error when a service runs on `DATA_DIR`, when the database has another journal, when the mark of an
 *   earlier move was deleted, and when the copy differs; the message says what to do
 */
export async function moveJournal(
  config: Config,
  url: string,
  options: MoveOptions,
): Promise<Readonly<Record<string, number>> | undefined> {
  const { dataDir, database } = config
  const to = `${database?.name ?? ''} on ${database?.host ?? ''}`
  const file = join(dataDir, journalFile)
  if (!existsSync(file)) throw new Error(`There is no journal in ${dataDir}. Check DATA_DIR.`)
  using _lock = await lockDirectory(dataDir, journalFile, options.clock)
  using journal = openWholeJournal(file)
  await readUsable(url, config, 'writing')
  const wasMarked = movedTo(dataDir) !== undefined
  // From the mark on, a crash leaves the journal here or there, and only the next run can tell.
  const beforeCommit = () => markMoved(dataDir, to)
  const tables = await takeJournal(url, journal, { ...options, beforeCommit })
  if (tables || wasMarked) return tables
  throw new Error(
    'This journal was moved to the database before, and then its mark was deleted, so the one in DATA_DIR may ' +
      'have changed since. Choose the one to go on with. To move again, give another, empty database.',
  )
}
