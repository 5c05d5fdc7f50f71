import type { Journal, JournalPolicy } from '../src/journal/contracts/journal.ts'
import { openPostgresSites } from '../src/journal/postgres/postgres-journal.ts'
import type { PostgresOptions } from '../src/journal/postgres/site.ts'
import { onlySiteOf } from './only-site.ts'

/** As `openPostgresSites`, with one site. Disposing closes the journal. */
export async function openPostgresJournal(
  url: string,
  policy: Partial<JournalPolicy> = {},
  { site = 'default', ...options }: PostgresOptions & { readonly site?: string } = {},
): Promise<Journal> {
  return onlySiteOf(await openPostgresSites(url, new Map([[site, policy]]), options))
}
