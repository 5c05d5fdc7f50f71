import { join } from 'node:path'
import type { Journal, JournalPolicy } from '../src/journal/contracts/journal.ts'
import type { SqliteDatabase } from '../src/journal/sqlite/database.ts'
import {
  openSqliteSites,
  sitesOn,
  type SqliteOptions,
} from '../src/journal/sqlite/sqlite-journal.ts'
import type { Signup } from '../src/signup/signup.ts'
import { onlySiteOf } from './only-site.ts'

/** As `openSqliteSites`, with one site. Disposing closes the journal. */
export function openSqliteJournal(
  file: string,
  policy: Partial<JournalPolicy> = {},
  { site = 'default', ...options }: SqliteOptions & { readonly site?: string } = {},
): Journal {
  return onlySiteOf(openSqliteSites(file, new Map([[site, policy]]), options))
}

/** The journal on a connection of its own, with one site. Disposing closes the connection. */
export function journalOn(
  db: SqliteDatabase,
  policy: Partial<JournalPolicy>,
  options: Pick<SqliteOptions, 'clock'>,
): Journal {
  return onlySiteOf(sitesOn(db, new Map([['default', policy]]), options))
}

/** Appends signups to the journal in this folder, while no service runs. */
export async function appendTo(
  dataDir: string,
  signups: readonly Signup[],
  policy: Partial<JournalPolicy> = {},
): Promise<void> {
  await using journal = openSqliteJournal(join(dataDir, 'journal.db'), policy)
  await journal.intake.append(signups)
}
