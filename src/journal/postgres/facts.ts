import type { PostgresDatabase, Queries, Step } from './database.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('facts', {
  fact: 'SELECT value FROM rollcall.fact WHERE site = $1 AND name = $2',
  setFact: `INSERT INTO rollcall.fact (site, name, value) VALUES ($1, $2, $3)
            ON CONFLICT (site, name) DO UPDATE SET value = excluded.value`,
  facts: `SELECT asked.no, value
          FROM unnest($1::integer[], $2::text[]) WITH ORDINALITY AS asked (site, name, no)
          JOIN rollcall.fact USING (site, name)`,
})

/** The fact that was noted under this name; undefined when there is none. */
export async function factOf(
  queries: Queries,
  site: number,
  name: string,
): Promise<string | undefined> {
  const row = await queries.get(sql.fact, site, name)
  return row && String(row['value'])
}

/** As `factOf`, outside of a transaction. */
export async function factNow(
  db: PostgresDatabase,
  site: number,
  name: string,
): Promise<string | undefined> {
  const [row] = await db.together(sql.facts, site, name)
  return row && String(row['value'])
}

/** Notes a fact. May run twice. */
export function settingFact(site: number, name: string, value: string): Step {
  return [sql.setFact, site, name, value]
}
