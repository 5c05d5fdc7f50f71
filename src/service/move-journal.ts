import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { type TakeOptions, takeJournal } from '../journal/postgres/take-journal.ts'
import { openWholeJournal } from '../journal/sqlite/whole-journal.ts'
import type { Clock } from '../platform/clock.ts'
import { lockDirectory } from '../platform/node/directory-lock.ts'
import { journalFile, markMoved } from './data-folder.ts'
import { readUsable } from './database-home.ts'

export type MoveOptions = Omit<TakeOptions, 'beforeCommit'> & { readonly clock: Clock }

/**
 * Moves the journal in `DATA_DIR` to the database of this URL, and compares all rows. The journal stays in
 * `DATA_DIR`, with a mark on it. After a stop at any point the next call goes on. Returns how many rows each table has;
 * undefined when the journal was moved before.
 *
 * @throws Error when a service runs on `DATA_DIR` or on the database, when the database has signups of
 *   another journal, when the journal was moved before and has changed since, and when the copy differs;
 *   the message says what to do
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
  const mark = () => markMoved(dataDir, to)
  // From the mark on, a crash leaves the journal here or there, and only the next run can tell.
  const tables = await takeJournal(url, journal, { ...options, beforeCommit: mark })
  if (!tables) await mark()
  return tables
}
