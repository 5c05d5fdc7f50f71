import { ask, type Database, type Operation, statementsOf, type Step, textOf } from '../sql.ts'

const sql = statementsOf('facts', ({ given }) => ({
  get: 'SELECT value FROM fact WHERE site = $1 AND name = $2',
  set: `INSERT INTO fact (site, name, value) VALUES ($1, $2, $3)
        ON CONFLICT (site, name) DO UPDATE SET value = excluded.value`,
  drop: 'DELETE FROM fact WHERE site = $1 AND name = $2',
  asked: `SELECT asked.no, value
          FROM ${given('asked', '$1', { site: 'integer', name: 'text', no: 'integer' })}
          JOIN fact ON fact.site = asked.site AND fact.name = asked.name`,
}))

/** What reading the rows of a site needs: its tables and its id. */
export interface ReadSite {
  readonly db: Database
  readonly id: number
}

/** The fact that was noted under this name; undefined when there is none. */
export async function readFact({ db, id }: ReadSite, name: string): Promise<string | undefined> {
  const [row] = await db.queryTogether(sql.asked, { site: id, name })
  return textOf(row?.['value'])
}

/** As `readFact`, within a transaction. */
export function* factOf(site: number, name: string): Operation<string | undefined> {
  const [{ rows }] = yield* ask(getFact(site, name))
  return textOf(rows[0]?.['value'])
}

export function getFact(site: number, name: string): Step {
  return [sql.get, site, name]
}

export function setFact(site: number, name: string, value: string): Step {
  return [sql.set, site, name, value]
}

export function dropFact(site: number, name: string): Step {
  return [sql.drop, site, name]
}
