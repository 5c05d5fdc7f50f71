import type pg from 'pg'
import type { Clock } from '../../platform/clock.ts'
import type { Secret } from '../hashes.ts'
import {
  keyOf,
  movedRowsAtOnce,
  type MovedRow,
  type MovedTable,
  movedTables,
} from '../moved-tables.ts'
import { type MovedState, sameState, type Source, stateOf, textOf, wentOn } from '../moved-state.ts'
import { Arrivals } from './arrivals.ts'
import { PostgresDatabase, syncedCommit } from './database.ts'
import { migrate } from './migrate.ts'
import { type Found, insertRows, type Run, types, valueOf } from './moving-rows.ts'
import { withClient } from './reach.ts'

/** The fact that tells which journal was moved here: the code of its first site. */
const movedFact = 'moved from'
/** The fact that tells how far that journal was. */
const stateFact = 'moved at'

/** Longer than any statement of a move takes. */
const waitMs = 10 * 60_000

export interface TakeOptions<T> {
  readonly source: Source
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** Brings the signups behind this position: the ones before it have arrived earlier. */
  readonly bring: (arrivals: Pick<Arrivals, 'add'>, after: number) => Promise<void>
  /** Puts the rest of the journal there, and compares all of it. */
  readonly fill: (taken: TakenJournal) => Promise<T>
}

/**
 * Makes the database of this URL the journal that `bring` and `fill` put there. The last transaction makes
 * it visible: after a crash at any point the journal is there completely, or not at all, and the next call
 * goes on with the signups that have arrived. Resolves with undefined when that journal was moved here
 * before.
 *
 * @throws Error when that journal has changed since it was moved here, when the database has signups of
 *   another journal, or an instance runs on it
 */
export async function takeJournal<T>(
  url: string,
  { source, clock, bring, fill }: TakeOptions<T>,
): Promise<T | undefined> {
  await makeTables(url, clock)
  return withClient(url, async (client) => {
    const run = runsOn(client)
    const arrivals = new Arrivals(run, source)
    const taken = new TakenJournal(run, arrivals)
    if (!(await taken.begin(source))) return undefined
    // What is wrong with the database is told before the signups are copied.
    await run('ROLLBACK')
    await bring(arrivals, await arrivals.open())
    if (!(await taken.begin(source))) return undefined
    const result = await fill(taken).catch(async (error: unknown) => {
      await run('ROLLBACK')
      if (error instanceof CopyDiffers) await arrivals.drop()
      throw error
    })
    await taken.commit(source)
    await arrivals.drop()
    return result
  })
}

/** What has arrived is not what the journal has, so the next move begins anew. */
export class CopyDiffers extends Error {}

function runsOn(client: pg.Client): Run {
  return (text, values) => {
    const query = { text, rowMode: 'array' as const, query_timeout: waitMs }
    return client.query<Found[]>(values ? { ...query, values: [...values] } : query)
  }
}

async function makeTables(url: string, clock: TakeOptions<unknown>['clock']): Promise<void> {
  const db = new PostgresDatabase(url, { clock })
  try {
    await migrate(db)
  } finally {
    await db.close()
  }
}

/** A journal that is being put into its database. */
export class TakenJournal {
  readonly #run: Run
  readonly #arrivals: Arrivals

  constructor(run: Run, arrivals: Arrivals) {
    this.#run = run
    this.#arrivals = arrivals
  }

  /** Keeps others out and removes what a start has made. Returns false when the journal is there already. */
  async begin({ code, state }: Source): Promise<boolean> {
    await this.#run(`BEGIN; SET LOCAL lock_timeout = 10000; SET LOCAL statement_timeout = ${waitMs};
      SET LOCAL idle_in_transaction_session_timeout = ${waitMs}; ${syncedCommit}`)
    await this.#run('SELECT position FROM rollcall.head FOR UPDATE')
    await this.#run('SELECT id FROM rollcall.site ORDER BY id FOR UPDATE')
    if (
      (await this.#number(
        `SELECT count(*) FROM rollcall.lease WHERE expires_at > clock_timestamp()`,
      )) > 0
    ) {
      throw new Error('An instance runs with DATABASE_URL. Stop all of them, and wait ten seconds.')
    }
    const known = await this.#run(
      `SELECT moved.value, state.value FROM rollcall.fact AS moved
      JOIN rollcall.fact AS state USING (site) WHERE moved.name = $1 AND state.name = $2`,
      [movedFact, stateFact],
    )
    if (known.rows[0]?.[0] === code) {
      const then = stateOf(String(known.rows[0][1]))
      if (!sameState(then, state)) throw wentOn(then, state, await this.#state())
      return false
    }
    if (
      known.rows.length > 0 ||
      (await this.#number('SELECT count(*) FROM (SELECT 1 FROM rollcall.signup LIMIT 1) AS one')) >
        0
    ) {
      throw new Error(
        'The database of DATABASE_URL has signups of another journal. Give an empty database.',
      )
    }
    await this.#keepCalls()
    for (const { name } of movedTables) await this.#run(`DELETE FROM rollcall.${name}`)
    for (const name of ['lease', 'secret', 'account'])
      await this.#run(`DELETE FROM rollcall.${name}`)
    return true
  }

  /** Adds rows of a table. */
  add(table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
    return insertRows(this.#run, table.name, table, rows)
  }

  /** Adds the signups that have arrived. */
  addSignups(): Promise<void> {
    return this.#arrivals.take()
  }

  /** Sets what follows from the tables, and what is not in them. */
  async complete(secret: Secret, lastBatch: number): Promise<void> {
    await this.#run('INSERT INTO rollcall.secret (only_row, value) VALUES (true, $1)', [secret])
    await this.#run(`UPDATE rollcall.counter SET value = $1 WHERE name = 'batch'`, [lastBatch])
    await this.#run(`UPDATE rollcall.head SET
      position = (SELECT coalesce(max(position), 0) FROM rollcall.signup),
      tab = (SELECT coalesce(max(id), 0) FROM rollcall.tab)`)
  }

  /** All rows that were added, page by page. */
  async *pages(table: MovedTable): AsyncGenerator<readonly MovedRow[]> {
    const { name, columns, key } = table
    const kinds = Object.values(columns)
    const names = Object.keys(columns)
    const from = `SELECT ${names.join(', ')} FROM rollcall.${name}`
    const end = `ORDER BY ${key.join(', ')} LIMIT ${movedRowsAtOnce}`
    const marks = key.map((column, at) => `$${at + 1}::${types[columns[column] ?? 'text']}`)
    const behind = `WHERE (${key.join(', ')}) > (${marks.join(', ')})`
    for (let found = await this.#run(`${from} ${end}`); found.rows.length > 0;) {
      const rows = found.rows.map((row) => kinds.map((kind, at) => valueOf(row[at], kind)))
      yield rows
      found = await this.#run(`${from} ${behind} ${end}`, keyOf(table, rows.at(-1) ?? []))
    }
  }

  /** Adds the calls that were made from this database after the others, so that the quota holds. */
  async commit({ code, state }: Source): Promise<void> {
    await this.#run(
      `INSERT INTO rollcall.provider_call (account, number, at, is_sure)
      SELECT account, number + coalesce((SELECT max(number) FROM rollcall.provider_call AS moved
                                         WHERE moved.account = kept.account), 0), at, is_sure
      FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[]) AS kept (account, number, at, is_sure)`,
      this.#kept,
    )
    await this.#run(`INSERT INTO rollcall.account (name, number)
      SELECT account, max(number) FROM rollcall.provider_call GROUP BY account`)
    // Instances that have opened the journal before do not go on.
    await this.#run('UPDATE rollcall.head SET journal = $1', [code])
    await this.#run(
      `INSERT INTO rollcall.fact (site, name, value)
      SELECT min(id), unnest($1::text[]), unnest($2::text[]) FROM rollcall.site`,
      [
        [movedFact, stateFact],
        [code, textOf(state)],
      ],
    )
    await this.#run('COMMIT')
    // New plans need new statistics. The server makes them later, too.
    await this.#run('ANALYZE rollcall.signup').catch(() => {})
  }

  #kept: readonly (readonly unknown[])[] = [[], [], [], []]

  /** Numbers the calls that were made from this database from 1. */
  async #keepCalls(): Promise<void> {
    const { rows } = await this.#run(`SELECT account,
        row_number() OVER (PARTITION BY account ORDER BY number), at, is_sure
      FROM rollcall.provider_call`)
    this.#kept = [0, 1, 2, 3].map((at) => rows.map((row) => row[at]))
  }

  async #state(): Promise<MovedState> {
    return {
      signup: await this.#number('SELECT position FROM rollcall.head'),
      batch: await this.#number(`SELECT value FROM rollcall.counter WHERE name = 'batch'`),
      settledAt: await this.#number('SELECT max(last_settled_at) FROM rollcall.site'),
      forgotten: await this.#number(
        'SELECT count(*) + coalesce(sum(upto), 0) FROM rollcall.tombstone',
      ),
    }
  }

  async #number(text: string): Promise<number> {
    return Number((await this.#run(text)).rows[0]?.[0])
  }
}
