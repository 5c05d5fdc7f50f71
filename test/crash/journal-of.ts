import pg from 'pg'

import type { AcceptedSignup } from './crash-load.ts'

interface JournalContent {
  /** In the order of their positions. */
  readonly signups: readonly AcceptedSignup[]
  readonly terms: number
}

/** What the journal in this database holds. */
export async function journalOf(url: string): Promise<JournalContent> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<AcceptedSignup>(
    `SELECT signup.id, email, tab.name AS tab FROM rollcall.signup JOIN rollcall.tab ON tab.id = tab
     ORDER BY position`,
  )
  const leases = await client.query<{ term: string }>('SELECT term FROM rollcall.lease')
  await client.end()
  return { signups: rows, terms: Number(leases.rows[0]?.term) }
}
