import pg from 'pg'
import type { Millis } from '../../signup/signup.ts'
import type { Answer, Row, Statement, Value as OneValue } from '../sql.ts'
import { postgresDialect } from './dialect.ts'
import { isOfDatabase, isReadOnly, isUnprepared, throwOfDriver } from './failure.ts'

/** Bounds on what the database may take. */
export interface DatabaseLimits {
  /** How many connections this process holds at most. */
  readonly connectionsMax: number
  /** How long to wait for a connection. */
  readonly connectMs: Millis
  /** How long to wait for an answer: longer than the times that the server keeps. */
  readonly answerMs: Millis
  /** How long the server waits for a lock, for a statement to end, and for us within a transaction. */
  readonly lockMs: Millis
  readonly statementMs: Millis
  readonly idleMs: Millis
}

export const defaultLimits: DatabaseLimits = {
  connectionsMax: 8,
  connectMs: 5_000,
  answerMs: 8_000,
  lockMs: 3_000,
  statementMs: 5_000,
  // Shorter than the wait for a lock, so that a process that stands still costs others no call.
  idleMs: 2_000,
}

/**
 * The limits of a connection for the lease alone, which no flood of requests can keep busy. One that hangs
 * is replaced before the lease is over.
 */
export const leaseLimits: DatabaseLimits = {
  connectionsMax: 1,
  connectMs: 1_500,
  answerMs: 2_000,
  lockMs: 1_000,
  statementMs: 1_500,
  idleMs: 1_000,
}

/** How many connections an instance takes at most. */
export const connectionsOfInstance = defaultLimits.connectionsMax + leaseLimits.connectionsMax

/** A value that `pg` binds. */
export type Value = OneValue | readonly OneValue[]

/** A statement with its values. */
export type Step = readonly [statement: Statement, ...values: Value[]]

/** A connection that one caller has for itself. */
export interface Connection {
  /** Sends a statement at once, behind those that are on their way. */
  readonly run: (step: Step) => Promise<Answer>
  /**
   * Sends statements without values. Resolves with the name of the last command.
   *
   * @param answerMs how long to wait for the answer, if not as usual
   */
  readonly exec: (text: string, answerMs?: Millis) => Promise<string>
  /** Whether the server has warned of something since the caller got the connection. */
  readonly hasWarned: boolean
}

/** Our numbers are far below 2^53. */
export const valueTypes = new pg.TypeOverrides()
valueTypes.setTypeParser(pg.types.builtins.INT8, Number)

/** The connections of one process to the database. A connection that has failed is never used again. */
export class Connections {
  readonly #url: string
  readonly #limits: DatabaseLimits
  #pool: pg.Pool
  /** With those whose server was left. Their connections close when they have been idle for a while. */
  readonly #pools: pg.Pool[] = []
  /** Whether statements are prepared. Some poolers cannot do that. */
  #prepares = true

  /** Connects only when it is used. */
  constructor(url: string, limits: DatabaseLimits) {
    this.#url = url
    this.#limits = limits
    this.#pool = this.#newPool()
  }

  /** Waits until all connections are given back, and closes them. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()))
  }

  /** Gives `work` a connection. Takes it back afterwards, if it has not failed. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const pool = this.#pool
    const client = await pool.connect().catch(throwOfDriver)
    let hasWarned = false
    const hear = ({ severity }: { readonly severity?: string | undefined }) => {
      if (severity === 'WARNING') hasWarned = true
    }
    client.on('notice', hear)
    let isBroken = false
    try {
      return await work({
        run: (step) => this.#run(client, step),
        exec: (text, answerMs) => exec(client, text, answerMs),
        get hasWarned() {
          return hasWarned
        },
      })
    } catch (error) {
      if (isUnprepared(error)) this.#prepares = false
      // Its server was the primary. Another caller may have left that server already.
      if (isReadOnly(error) && pool === this.#pool) this.#pool = this.#newPool()
      isBroken = isOfDatabase(error) || hasWarned
      throw error
    } finally {
      client.off('notice', hear)
      client.release(isBroken)
    }
  }

  async #run(client: pg.PoolClient, [{ name, text }, ...values]: Step): Promise<Answer> {
    const query = { ...(this.#prepares && { name }), text: text(postgresDialect), values }
    const { rows, rowCount } = await client.query<Row>(query).catch(throwOfDriver)
    return { rows, changes: rowCount ?? 0 }
  }

  #newPool(): pg.Pool {
    const { connectionsMax, connectMs, answerMs } = this.#limits
    const options: pg.PoolConfig & { readonly pipeline: true } = {
      connectionString: this.#url,
      application_name: 'rollcall',
      max: connectionsMax,
      connectionTimeoutMillis: connectMs,
      // The connection is destroyed then.
      query_timeout: answerMs,
      keepAlive: true,
      pipeline: true,
      types: valueTypes,
    }
    const pool = new pg.Pool(options)
    // An idle connection has failed, and the pool has dropped it. Without a listener, the process would end.
    pool.on('error', () => {})
    // The same goes for a connection in use, whose caller learns of it by its statements.
    pool.on('connect', (client) => client.on('error', () => {}))
    this.#pools.push(pool)
    return pool
  }
}

async function exec(client: pg.PoolClient, text: string, answerMs?: Millis): Promise<string> {
  const query = { text, query_timeout: answerMs }
  const answer: pg.QueryResult | readonly pg.QueryResult[] = await client
    .query(query)
    .catch(throwOfDriver)
  const last = Array.isArray(answer) ? (answer.at(-1) as pg.QueryResult) : answer
  return last.command
}
