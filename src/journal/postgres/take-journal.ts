import { hash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { isSameState, type MovedJournal, stateOf, stateSql, wentOn } from '../moved-journal.ts'
import { type Given, givenRows, type Row } from '../sql.ts'
import { layout, signupTable, type Table } from '../tables/layout.ts'
import { PostgresDatabase, syncedCommit } from './database.ts'
import { postgresDialect } from './dialect.ts'
import { migrate } from './migrate.ts'
import { withClient } from './reach.ts'
import { types } from './schema.ts'

/** The fact that tells which journal was moved here: the code of its first site. */
const movedFact = 'moved from'
/** The fact that tells how far that journal was. */
const stateFact = 'moved at'

/** Longer than any statement of a move takes. */
const waitMs = 10 * 60_000
/** How many positions one statement takes over, so that none takes long. */
const takenAtOnce = 50_000

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
  const arrived = arrivedTable(journal)
  await makeTables(url, options)
  return withClient(
    url,
    async (client) => {
      const run: Run = async (text, values = []) => (await client.query<Row>(text, values)).rows
      if (!(await begin(run, journal))) return undefined
      // What is wrong with the database is told before the signups are copied.
      await run('ROLLBACK')
      await bringSignups(run, arrived, journal, options)
      if (!(await begin(run, journal))) return undefined
      const kept = await clear(run)
      const counts = await copy(run, arrived, journal, options).catch(async (error: unknown) => {
        if (error instanceof CopyDiffers) await run(`ROLLBACK; DROP TABLE ${arrived}`)
        throw error
      })
      await complete(run, journal, kept)
      await options.beforeCommit()
      await run('COMMIT')
      // New plans need new statistics. The server makes them later, too.
      await run('ANALYZE rollcall.signup').catch(() => {})
      await run(`DROP TABLE ${arrived}`)
      return counts
    },
    waitMs,
  )
}

/** What has arrived is not what the journal has, so the next move begins anew. */
class CopyDiffers extends Error {}

/** Runs a statement on the connection of the move. */
type Run = (text: string, values?: unknown[]) => Promise<readonly Row[]>

async function makeTables(url: string, { clock }: TakeOptions): Promise<void> {
  await using db = new PostgresDatabase(url, { clock })
  await migrate(db)
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
       EXISTS (SELECT 1 FROM signup) AS "hasSignups",
       (SELECT value FROM fact WHERE name = $1) AS code,
       (SELECT value FROM fact WHERE name = $2) AS state`,
    [movedFact, stateFact],
  )
  if (found?.['isRunning']) {
    throw new Error('An instance runs with DATABASE_URL. Stop all of them, and wait ten seconds.')
  }
  if (found?.['code'] === code) {
    const then = stateOf(JSON.parse(String(found['state'])) as Row)
    if (isSameState(then, state)) return false
    const [there] = await run(stateSql(postgresDialect))
    throw wentOn(then, state, stateOf(there))
  }
  if (found?.['code'] || found?.['hasSignups']) {
    throw new Error(
      'The database of DATABASE_URL has signups of another journal. Give an empty database.',
    )
  }
  return true
}

/**
 * The signups arrive in a table of their own that no instance reads. It is for one state of one journal, and
 * for the columns that signups have now.
 */
function arrivedTable({ code, state }: MovedJournal): string {
  const source = [code, JSON.stringify(state), ...Object.keys(signupTable.columns)]
  return `rollcall.arrived_${hash('sha256', source.join(' ')).slice(0, 16)}`
}

/** Each page is committed, so that a move that was stopped goes on behind the last one. */
async function bringSignups(
  run: Run,
  arrived: string,
  journal: MovedJournal,
  { goesOn, copied, stop }: TakeOptions,
): Promise<void> {
  await run(`CREATE TABLE IF NOT EXISTS ${arrived} (LIKE rollcall.signup, PRIMARY KEY (position))`)
  const [last] = await run(`SELECT coalesce(max(position), 0) AS position FROM ${arrived}`)
  const after = Number(last?.['position'])
  if (after > 0) goesOn(after)
  let count = 0
  for (const rows of journal.pages(signupTable, after)) {
    await insertRows(run, arrived, signupTable, rows)
    copied((count += rows.length))
    stop.throwIfAborted()
  }
}

/**
 * Removes what a start has made. Resolves with the calls that were made from this database, numbered from 1
 * for each account.
 */
async function clear(run: Run): Promise<readonly Row[]> {
  const calls = await run(
    `SELECT account, row_number() OVER (PARTITION BY account ORDER BY number) AS number, at, is_sure
     FROM provider_call`,
  )
  const names = [...layout.map(({ name }) => name), 'lease', 'secret', 'account']
  await run(names.map((name) => `DELETE FROM ${name}`).join('; '))
  return calls
}

/** Copies each table, and compares it. Resolves with how many rows each has. @throws CopyDiffers */
async function copy(
  run: Run,
  arrived: string,
  journal: MovedJournal,
  { compared, stop }: TakeOptions,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  let all = 0
  for (const table of layout) {
    if (table === signupTable) await takeArrived(run, arrived, journal.state.signup)
    else for (const rows of journal.pages(table)) await insertRows(run, table.name, table, rows)
    for await (const count of compare(run, table, journal)) {
      compared((all += count))
      stop.throwIfAborted()
    }
    stop.throwIfAborted()
    counts[table.name] = journal.count(table)
  }
  return counts
}

async function takeArrived(run: Run, arrived: string, last: number): Promise<void> {
  const columns = columnsOf(signupTable)
  for (let after = 0; after < last; after += takenAtOnce) {
    await run(
      `INSERT INTO signup (${columns}) SELECT ${columns} FROM ${arrived}
       WHERE position > $1 AND position <= $2`,
      [after, after + takenAtOnce],
    )
  }
}

/** Reads a table back. Yields how many more rows are the same as in the journal. @throws CopyDiffers */
async function* compare(
  run: Run,
  table: Table,
  journal: MovedJournal,
): AsyncGenerator<number, void> {
  const { name, columns, key } = table
  const count = journal.count(table)
  const [copied] = await run(`SELECT count(*) AS count FROM ${name}`)
  const differs = new CopyDiffers(
    `The copy of the table ${name} differs: it has ${Number(copied?.['count'])} rows of ${count}, or other ` +
      'values in them. Nothing was moved. Run it again: it begins anew. If that does not help, report it.',
  )
  if (copied?.['count'] !== count) throw differs
  // The order in which SQLite has texts.
  const order = key.map((it) => (columns[it]?.kind === 'text' ? `${it} COLLATE "C"` : it))
  await run(
    `DECLARE copied CURSOR FOR SELECT ${columnsOf(table)} FROM ${name} ORDER BY ${order.join(', ')}`,
  )
  for (const ours of journal.pages(table)) {
    const theirs = await run(`FETCH ${ours.length} FROM copied`)
    if (JSON.stringify(theirs) !== JSON.stringify(ours)) throw differs
    yield ours.length
  }
  await run('CLOSE copied')
}

/** Sets what follows from the tables, and what is not in them. */
async function complete(run: Run, journal: MovedJournal, kept: readonly Row[]): Promise<void> {
  await run('INSERT INTO secret (only_row, value) VALUES (true, $1)', [journal.secret])
  // The calls that were made from this database come after the others, so that the quota holds.
  await run(
    `INSERT INTO provider_call (account, number, at, is_sure)
     SELECT account, number + coalesce((SELECT max(number) FROM provider_call AS moved
                                        WHERE moved.account = kept.account), 0), at, is_sure
     FROM json_to_recordset($1) AS kept (account text, number bigint, at bigint, is_sure boolean)`,
    [JSON.stringify(kept)],
  )
  // Instances that have opened the journal before do not go on.
  await run(
    'UPDATE head SET position = (SELECT coalesce(max(position), 0) FROM signup), journal = $1',
    [journal.code],
  )
  await run(
    `INSERT INTO fact (site, name, value)
     SELECT min(id), unnest($1::text[]), unnest($2::text[]) FROM site`,
    [
      [movedFact, stateFact],
      [journal.code, JSON.stringify(journal.state)],
    ],
  )
}

/** Adds rows to `into`, which has the columns of this table. */
async function insertRows(run: Run, into: string, table: Table, rows: readonly Given[]) {
  const read = Object.entries(table.columns).map(([name, { kind }]) => `${name} ${types[kind]}`)
  await run(
    `INSERT INTO ${into} (${columnsOf(table)}) SELECT ${columnsOf(table)}
     FROM json_to_recordset($1) AS given (${read.join(', ')})`,
    [givenRows(rows)],
  )
}

function columnsOf({ columns }: Table): string {
  return Object.keys(columns).join(', ')
}
