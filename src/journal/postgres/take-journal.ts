import type { Clock } from '../../platform/clock.ts'
import type { MovedJournal } from '../moved-journal.ts'
import { givenRows, type Row } from '../sql.ts'
import { layout, type Table } from '../tables/layout.ts'
import { PostgresDatabase, syncedCommit } from './database.ts'
import { migrate } from './migrate.ts'
import { withClient } from './reach.ts'
import { types } from './schema.ts'

/** Longer than any statement of a move takes. */
const waitMs = 10 * 60_000

export interface TakeOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** Aborts to leave everything as it was. */
  readonly stop: AbortSignal
  /** Told how many rows were copied. */
  readonly copied: (rows: number) => void
  /** Called when the journal is there and was compared, before it shows. */
  readonly beforeCommit: () => Promise<void>
}

/**
 * Makes the untouched database of this URL the journal that moves, in one transaction. Resolves with the rows
 * of each table; with undefined when the database has that journal already.
 *
 * @throws Error when the database has another journal, or when the copy differs
 */
export async function takeJournal(
  url: string,
  journal: MovedJournal,
  options: TakeOptions,
): Promise<Readonly<Record<string, number>> | undefined> {
  {
    await using db = new PostgresDatabase(url, options)
    await migrate(db)
  }
  return withClient(url, async (client) => {
    const run: Run = async (text, values = []) => {
      const query = { text, values, query_timeout: waitMs }
      return (await client.query<Row>(query)).rows
    }
    if (!(await begin(run, journal))) return undefined
    const counts = await takeAll(run, journal, options)
    await run('UPDATE head SET position = (SELECT coalesce(max(position), 0) FROM signup)')
    await options.beforeCommit()
    await run('COMMIT')
    // New plans need new statistics. The server makes them later, too.
    await run('ANALYZE rollcall.signup').catch(() => {})
    return counts
  })
}

/** Runs a statement on the connection of the move. */
type Run = (text: string, values?: unknown[]) => Promise<readonly Row[]>

/**
 * Begins the transaction with the secret: it is the first row that anybody makes, so an instance that starts
 * now waits for the end of the move. Returns false when the journal is there already.
 */
async function begin(run: Run, { code, secret }: MovedJournal): Promise<boolean> {
  await run(`BEGIN; SET LOCAL lock_timeout = 10000; SET LOCAL statement_timeout = ${waitMs};
    SET LOCAL idle_in_transaction_session_timeout = ${waitMs};
    SET LOCAL search_path = rollcall; ${syncedCommit}`)
  const made = await run(
    'INSERT INTO secret (only_row, value) VALUES (true, $1) ON CONFLICT DO NOTHING RETURNING value',
    [secret],
  )
  const codes = await run('SELECT code FROM site')
  if (codes.some((site) => site['code'] === code)) return false
  if (made.length === 0 || codes.length > 0) {
    throw new Error(
      'The database of DATABASE_URL has another journal. Give an empty database; or, when you do not need ' +
        'that journal, stop what runs on it, and run DROP SCHEMA rollcall CASCADE there.',
    )
  }
  await run('DELETE FROM counter')
  return true
}

/** Fills each table, and compares what it has got with the journal. Resolves with how many rows each has. */
async function takeAll(
  run: Run,
  { pages }: MovedJournal,
  { stop, copied }: TakeOptions,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  let all = 0
  for (const table of layout) {
    const insert = insertGiven(table)
    counts[table.name] = 0
    for (const page of pages(table)) {
      const taken = await run(insert, [givenRows(page)])
      if (JSON.stringify(taken) !== JSON.stringify(page)) throw new Error(differs(table))
      counts[table.name] = (counts[table.name] ?? 0) + page.length
      copied((all += page.length))
      stop.throwIfAborted()
    }
  }
  return counts
}

const differs = ({ name }: Table) =>
  `The copy of the table ${name} differs. Nothing was moved. Run it again. If that does not help, report it.`

/** Adds the rows that $1 brings, and returns them. */
function insertGiven({ name, columns }: Table): string {
  const names = Object.keys(columns).join(', ')
  const read = Object.entries(columns).map(([column, { kind }]) => `${column} ${types[kind]}`)
  return `INSERT INTO ${name} (${names})
    SELECT ${names} FROM json_to_recordset($1) AS given (${read.join(', ')}) RETURNING ${names}`
}
