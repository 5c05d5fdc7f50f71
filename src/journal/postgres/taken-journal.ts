import type pg from 'pg'
import type { Clock } from '../../platform/clock.ts'
import type { Secret } from '../hashes.ts'
import {
  keyOf,
  type Kind,
  movedRowsAtOnce,
  type MovedRow,
  type MovedTable,
  movedTables,
} from '../moved-tables.ts'
import { type MovedState, sameState, stateOf, textOf, wentOn } from '../moved-state.ts'
import { PostgresDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { withClient } from './reach.ts'

/** The fact that tells which journal was moved here: the code of its first site. */
const movedFact = 'moved from'
/** The fact that tells how far that journal was. */
const stateFact = 'moved at'

const types: Readonly<Record<Kind, string>> = {
  number: 'bigint',
  text: 'text',
  id: 'uuid',
  boolean: 'boolean',
}

/** Longer than any statement of a move takes. */
const waitMs = 10 * 60_000

/** The journal that moves. */
export interface Source {
  /** The code of its first site. */
  readonly code: string
  readonly state: MovedState
}

export interface TakeOptions<T> {
  readonly source: Source
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** Puts the journal there. */
  readonly fill: (taken: TakenJournal) => Promise<T>
}

/**
 * Makes the database of this URL the journal that `fill` puts there, in one transaction: after a crash at
 * any point it is there completely, or not at all. Resolves with undefined when that journal was moved
 * here before.
 *
 * @throws Error when that journal has changed since it was moved here, when the database has signups of
 *   another journal, or an instance runs on it
 */
export async function takeJournal<T>(
  url: string,
  { source, clock, fill }: TakeOptions<T>,
): Promise<T | undefined> {
  await makeTables(url, clock)
  return withClient(url, async (client) => {
    const taken = new TakenJournal(client)
    if (!(await taken.begin(source))) return undefined
    const result = await fill(taken)
    await taken.commit(source)
    return result
  })
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
  readonly #client: pg.Client

  constructor(client: pg.Client) {
    this.#client = client
  }

  /** Keeps others out and removes what a start has made. Returns false when the journal is there already. */
  async begin({ code, state }: Source): Promise<boolean> {
    await this.#run(`BEGIN; SET LOCAL lock_timeout = 10000; SET LOCAL statement_timeout = ${waitMs};
      SET LOCAL idle_in_transaction_session_timeout = ${waitMs}`)
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
  async add({ name, columns }: MovedTable, rows: readonly MovedRow[]): Promise<void> {
    const kinds = Object.values(columns)
    const lists = kinds.map((_, at) => rows.map((row) => row[at]))
    const from = kinds.map((kind, at) => `$${at + 1}::${types[kind]}[]`).join(', ')
    const into = `rollcall.${name} (${Object.keys(columns).join(', ')})`
    await this.#run(`INSERT INTO ${into} SELECT * FROM unnest(${from})`, lists)
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

  async #run(text: string, values?: readonly unknown[]): Promise<pg.QueryArrayResult<Found[]>> {
    const query = { text, rowMode: 'array' as const, query_timeout: waitMs }
    return this.#client.query<Found[]>(values ? { ...query, values: [...values] } : query)
  }
}

/** What `pg` makes of our columns. */
type Found = string | number | boolean | null

function valueOf(value: Found | undefined, kind: Kind): MovedRow[number] {
  if (value === null || value === undefined) return null
  if (kind === 'boolean') return value === true
  return kind === 'number' ? Number(value) : String(value)
}
