import { hash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { type MovedJournal, stateSql } from '../moved-journal.ts'
import { type Given, givenRows, type Row } from '../sql.ts'
import { layout, signupTable, type Table } from '../tables/layout.ts'
import { PostgresDatabase, syncedCommit } from './database.ts'
import { postgresDialect } from './dialect.ts'
import { migrate } from './migrate.ts'
import { withClient } from './reach.ts'
import { types } from './schema.ts'

/** The fact that tells how far the journal was that was moved here. */
const stateFact = 'moved at'

/** Longer than any statement of a move takes. */
const waitMs = 10 * 60_000

export interface TakeOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** Aborts to leave everything as it was. */
  readonly stop: AbortSignal
  /** Told the position of the last signup that an earlier run has copied, when there is one. */
  readonly goesOn: (after: number) => void
  /** Told how many signups were copied, and then how many rows were compared. */
  readonly copied: (signups: number) => void
  readonly compared: (rows: number) => void
  /** Called when the journal is there and was compared, before it shows. */
  readonly beforeCommit: () => Promise<void>
}

/**
 * Makes the database of this URL the journal that moves. The last transaction makes it visible: after a
 * crash at any point the journal is there completely, or not at all, and the next call goes on with the
 * signups that have arrived. Resolves with the rows of each table; with undefined when that journal was moved
 * here before.
 *
 * @throws Error when that journal has changed since it was moved here, when the database has signups of
 *   another journal, when an instance runs on it, or when the copy differs
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
  const arrived = arrivedTable(journal)
  return withClient(url, async (client) => {
    const run: Run = async (text, values = []) => {
      const query = { text, values, query_timeout: waitMs }
      return (await client.query<Row>(query)).rows
    }
    const move = { ...options, journal, arrived, run }
    if (!(await begin(run, journal))) return undefined
    // What is wrong with the database is told before the signups are copied.
    await run('ROLLBACK')
    await bringSignups(move)
    if (!(await begin(run, journal))) return undefined
    await clear(run)
    const counts = await takeAll(move)
    await complete(run, journal)
    await dropArrived(run)
    await options.beforeCommit()
    await run('COMMIT')
    // New plans need new statistics. The server makes them later, too.
    await run('ANALYZE rollcall.signup').catch(() => {})
    return counts
  })
}

/** Runs a statement on the connection of the move. */
type Run = (text: string, values?: unknown[]) => Promise<readonly Row[]>

interface Move extends TakeOptions {
  readonly journal: MovedJournal
  /** The table in which its signups arrive. */
  readonly arrived: string
  readonly run: Run
}

/** Begins a transaction that keeps others out. Returns false when the journal is there already. */
async function begin(run: Run, { code, state }: MovedJournal): Promise<boolean> {
  await run(`BEGIN; SET LOCAL lock_timeout = 10000; SET LOCAL statement_timeout = ${waitMs};
    SET LOCAL idle_in_transaction_session_timeout = ${waitMs};
    SET LOCAL search_path = rollcall; ${syncedCommit}`)
  await run('SELECT position FROM head FOR UPDATE')
  await run('SELECT id FROM site ORDER BY id FOR UPDATE')
  const [found] = await run(
    `SELECT EXISTS (SELECT 1 FROM lease WHERE expires_at > clock_timestamp()) AS "isRunning",
       EXISTS (SELECT 1 FROM signup) AS "hasSignups", journal AS code,
       (SELECT value FROM fact WHERE name = $1) AS state
     FROM head`,
    [stateFact],
  )
  if (found?.['isRunning']) {
    throw new Error('An instance runs with DATABASE_URL. Stop all of them, and wait ten seconds.')
  }
  if (found?.['code'] === code) {
    if (found['state'] === state) return false
    const [there] = await run(stateSql(postgresDialect))
    throw wentOn(String(found['state']), state, JSON.stringify(there))
  }
  if (found?.['code'] || found?.['hasSignups']) {
    throw new Error(
      'The database of DATABASE_URL has signups of another journal. Give an empty database.',
    )
  }
  return true
}

/**
 * The refusal of a second move, because the journal has changed since the first one. The states are that of
 * then, that in the folder now and that in the database now.
 */
function wentOn(then: string, here: string, there: string): Error {
  const states = [then, here, there].map((state) => JSON.parse(state) as Row)
  const numbers = (of: string) => {
    const [moved, left, taken] = states.map((state) => Number(state[of]))
    return `number ${moved} at the move, ${left} in DATA_DIR now, ${taken} in the database now`
  }
  const way =
    then === there
      ? 'The database has not changed since: give another, empty database in DATABASE_URL, and move again.'
      : 'The database has changed, too. Choose the one to go on with. Bring those signups of the other one that ' +
        'have no row in the spreadsheet yet with rollcall export --since and rollcall import.'
  return new Error(
    'This journal was moved to the database before, and the one in DATA_DIR has changed since. ' +
      `Last signup: ${numbers('signup')}. Last batch: ${numbers('batch')}. ` +
      `Both are left as they are, and nothing is lost. ${way}`,
  )
}

/**
 * The signups arrive in a table of their own that no instance reads. It is for one state of one journal, and
 * for the columns that signups have now.
 */
function arrivedTable({ code, state }: MovedJournal): string {
  const source = [code, state, ...Object.keys(signupTable.columns)]
  return `rollcall.arrived_${hash('sha256', source.join(' ')).slice(0, 16)}`
}

/** Drops what has arrived, from this state of the journal and from earlier ones: it has addresses. */
async function dropArrived(run: Run): Promise<void> {
  const found = await run(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'rollcall' AND tablename LIKE 'arrived\\_%'",
  )
  for (const { name } of found) await run(`DROP TABLE ${String(name)}`)
}

/** Each page is committed, so that a move that was stopped goes on behind the last one. */
async function bringSignups({ run, arrived, journal, goesOn, copied, stop }: Move): Promise<void> {
  await run(`CREATE TABLE IF NOT EXISTS ${arrived} (LIKE rollcall.signup, PRIMARY KEY (position))`)
  const [last] = await run(`SELECT coalesce(max(position), 0) AS position FROM ${arrived}`)
  const after = Number(last?.['position'])
  if (after > 0) goesOn(after)
  let count = 0
  for (const page of journal.pages(signupTable, after)) {
    await run(insertGiven(arrived, signupTable), [givenRows(page)])
    copied((count += page.length))
    stop.throwIfAborted()
  }
}

/** Removes what a start has made. The calls that it made come after those of the journal, so the quota holds. */
async function clear(run: Run): Promise<void> {
  await run('UPDATE provider_call SET number = number + 1000000000000')
  const made = [...layout.map(({ name }) => name), 'lease', 'secret', 'account']
  const emptied = made.filter((name) => name !== 'provider_call')
  await run(emptied.map((name) => `DELETE FROM ${name}`).join('; '))
}

/**
 * Fills each table, and compares what it has got with the journal. Resolves with how many rows each has. When
 * they differ, the next move begins anew.
 */
async function takeAll(move: Move): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  let all = 0
  for (const table of layout) {
    let count = 0
    for (const page of move.journal.pages(table)) {
      const taken = await takePage(move, table, page)
      if (JSON.stringify(taken) !== JSON.stringify(page)) {
        await move.run(`ROLLBACK; DROP TABLE ${move.arrived}`)
        throw new Error(
          `The copy of the table ${table.name} differs: it has ${count + taken.length} rows of ` +
            `${count + page.length}, or other values in them. Nothing was moved. Run it again: it begins anew. ` +
            'If that does not help, report it.',
        )
      }
      count += page.length
      move.compared((all += page.length))
      move.stop.throwIfAborted()
    }
    counts[table.name] = count
  }
  return counts
}

/** Puts a page of the journal into its table. Resolves with the rows that the table has got. */
function takePage({ run, arrived }: Move, table: Table, page: readonly Given[]) {
  const columns = columnsOf(table)
  if (table !== signupTable) {
    return run(`${insertGiven(table.name, table)} RETURNING ${columns}`, [givenRows(page)])
  }
  return run(
    `INSERT INTO signup (${columns}) SELECT ${columns} FROM ${arrived}
     WHERE position BETWEEN $1 AND $2 ORDER BY position RETURNING ${columns}`,
    [page[0]?.['position'], page.at(-1)?.['position']],
  )
}

/** Sets what follows from the tables, and what is not in them. */
async function complete(run: Run, { code, secret, state }: MovedJournal): Promise<void> {
  await run('INSERT INTO secret (only_row, value) VALUES (true, $1)', [secret])
  // Instances that have opened the journal before do not go on.
  await run(
    'UPDATE head SET position = (SELECT coalesce(max(position), 0) FROM signup), journal = $1',
    [code],
  )
  const note = 'INSERT INTO fact (site, name, value) SELECT min(id), $1, $2 FROM site'
  await run(note, [stateFact, state])
}

/** Adds the rows that $1 brings to `into`, which has the columns of this table. */
function insertGiven(into: string, table: Table): string {
  const read = Object.entries(table.columns).map(([name, { kind }]) => `${name} ${types[kind]}`)
  return `INSERT INTO ${into} (${columnsOf(table)}) SELECT ${columnsOf(table)}
    FROM json_to_recordset($1) AS given (${read.join(', ')})`
}

function columnsOf({ columns }: Table): string {
  return Object.keys(columns).join(', ')
}
