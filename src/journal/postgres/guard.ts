import type { PostgresDatabase, Step } from './database.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('guard', {
  journal: 'SELECT journal FROM rollcall.head WHERE only_row',
  // Fails when another journal was moved here.
  expect: 'SELECT 1 / count(*) FROM rollcall.head WHERE only_row AND journal = $1',
})

/** A statement that fails with `JournalReplaced` as soon as another journal was moved to this database. */
export async function openGuard(db: PostgresDatabase): Promise<Step> {
  return [sql.expect, String((await db.get(sql.journal))?.['journal'])]
}
