import type { Clock } from '../../platform/clock.ts'
import { OutcomeUnknown } from '../contracts/unavailable.ts'
import { type Connection, Connections, type DatabaseLimits, defaultLimits } from './connections.ts'
import {
  ConnectionFailed,
  isOfDatabase,
  isReadOnly,
  isRefusal,
  isRepeatable,
  isUnprepared,
  toUnavailable,
} from './failure.ts'
import type { Row, Statement, Value } from './statement.ts'
import { Together } from './together.ts'

export interface DatabaseOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly limits?: Partial<DatabaseLimits> | undefined
}

/** A statement with its values. */
export type Step = readonly [statement: Statement, ...values: Value[]]

/**
 * Makes the commit of this transaction wait until it is on disk, also where the server is set not to. The
 * other values of `synchronous_commit` wait for the disk, and some for a standby, so they are kept.
 */
export const syncedCommit = `SELECT set_config('synchronous_commit', 'on', true)
  WHERE current_setting('synchronous_commit') = 'off'`

/** For how long, and how often, a transaction is run again that met others. */
const again = { maxMs: 5_000, restMs: 10 } as const

/** Answers of the database to one statement. */
export interface Queries {
  all(statement: Statement, ...values: Value[]): Promise<readonly Row[]>
  /** The first row. */
  get(statement: Statement, ...values: Value[]): Promise<Row | undefined>
}

/**
 * A transaction that is under way. Statements that are sent without waiting for one another share a round
 * trip; when one of them fails, so do all later ones.
 */
export interface Transaction extends Queries {
  /** Runs a statement and returns how many rows it changed. */
  run(statement: Statement, ...values: Value[]): Promise<number>
  /** Runs statements without values. */
  exec(text: string): Promise<unknown>
}

/**
 * The journal's database, with transactions. Every call rejects with `JournalUnavailable` when the
 * database cannot be used, and with `OutcomeUnknown`, which is one, when a commit may have happened.
 */
export class PostgresDatabase implements Queries {
  readonly #connections: Connections
  readonly #clock: DatabaseOptions['clock']
  /**
   * Poolers keep no setting of a session, so each transaction brings its own. PostgreSQL keeps the plans
   * of statements. A plan from when a table was small would read the whole table, so `enable_seqscan` is
   * off. Up to version 17 PostgreSQL then takes plans for expensive ones and compiles each of them for
   * seconds, so `jit` is off, too.
   */
  readonly #settings: string
  #guard: readonly Step[] = []
  readonly #together = new Map<Statement, Together<readonly (string | number)[], readonly Row[]>>()

  /** Connects only when it is used. */
  constructor(url: string, { clock, limits = {} }: DatabaseOptions) {
    const all = { ...defaultLimits, ...limits }
    this.#clock = clock
    this.#connections = new Connections(url, all)
    this.#settings = `SET LOCAL lock_timeout = ${all.lockMs};
      SET LOCAL statement_timeout = ${all.statementMs};
      SET LOCAL idle_in_transaction_session_timeout = ${all.idleMs};
      SET LOCAL enable_seqscan = off;
      SET LOCAL jit = off;
      ${syncedCommit}`
  }

  close(): Promise<void> {
    return this.#connections.close()
  }

  /** Sends this statement in each later transaction, right behind its lock. When it fails, so does all. */
  guardWith(guard: Step): void {
    this.#guard = [guard]
  }

  /** Runs one statement, which may run twice. Returns its rows. */
  all(statement: Statement, ...values: Value[]): Promise<readonly Row[]> {
    return this.#repeat(async (connection) => {
      const [answers] = await this.#inOneGo(connection, [[statement, ...values]]).catch(
        (error: unknown) => {
          throw error instanceof OutcomeUnknown ? new ConnectionFailed(undefined) : error
        },
      )
      return answers ?? []
    })
  }

  async get(statement: Statement, ...values: Value[]): Promise<Row | undefined> {
    return (await this.all(statement, ...values))[0]
  }

  /**
   * Runs one statement for all who ask with it in one turn of the event loop. Its parameters are lists: the
   * first values of all askers, their second ones, and so on. The rows of an asker have its place in
   * these lists, from 1, as `no`.
   */
  together(statement: Statement, ...values: (string | number)[]): Promise<readonly Row[]> {
    let together = this.#together.get(statement)
    if (!together) {
      together = new Together((asked) => this.#askAll(statement, asked))
      this.#together.set(statement, together)
    }
    return together.ask(values)
  }

  async #askAll(
    statement: Statement,
    asked: readonly (readonly (string | number)[])[],
  ): Promise<readonly (readonly Row[])[]> {
    const lists = (asked[0] ?? []).map((_, at) => asked.map((values) => values[at] ?? null))
    const rows = Map.groupBy(await this.all(statement, ...lists), ({ no }) => Number(no))
    return asked.map((_, index) => rows.get(index + 1) ?? [])
  }

  /**
   * Runs one statement that changes tables or indexes, however long it takes. It must be one that may run
   * twice.
   */
  exec(text: string): Promise<unknown> {
    return this.#repeat((connection) => connection.exec(text, Infinity))
  }

  /** Runs several reads, which all see the journal of one moment. */
  snapshot<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#repeat(async (connection) => {
      await connection.exec(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${this.#settings}`)
      return this.#within(connection, work)
    })
  }

  /**
   * Commits what `work` changes, or nothing when it throws. `lock` is sent first, and waits until earlier
   * holders of the same lock have ended: what `work` sends sees all that they have committed. `work` may
   * run several times.
   */
  transaction<T>(lock: Step, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#repeat(async (connection) => {
      // `work` waits for this, because without a transaction each of its statements would commit.
      const begun = this.#begin(connection)
      const first = [lock, ...this.#guard].map((step) => connection.run(step[0], valuesOf(step)))
      await Promise.all([begun, ...first])
      return this.#within(connection, work)
    })
  }

  /**
   * Like `transaction`, but sends everything in one go, the commit too, so nobody who waits for the lock
   * also waits for this process. Returns the rows of each step.
   */
  inOneGo(lock: Step, steps: readonly Step[]): Promise<readonly (readonly Row[])[]> {
    return this.#repeat(async (connection) => {
      const first = [lock, ...this.#guard]
      const answers = await this.#inOneGo(connection, [...first, ...steps])
      return answers.slice(first.length)
    })
  }

  async #inOneGo(
    connection: Connection,
    steps: readonly Step[],
  ): Promise<readonly (readonly Row[])[]> {
    const begun = this.#begin(connection).catch(() => {
      // Without a transaction, each of the statements behind it commits.
      throw new OutcomeUnknown(unknown)
    })
    const sent = steps.map((step) => connection.run(step[0], valuesOf(step)))
    const committed = commit(connection)
    committed.catch(() => {})
    const [, answers] = await Promise.all([begun, Promise.all(sent)]).catch((error: unknown) => {
      // The server does not commit after an error. A pooler may tell of a server that it has lost, to which
      // the commit went.
      throw isOfDatabase(error) && !isRefusal(error) ? new OutcomeUnknown(unknown) : error
    })
    await committed
    return answers.map(({ rows }) => rows)
  }

  /** Under another isolation, statements would not see what earlier holders of the lock have committed. */
  #begin(connection: Connection): Promise<string> {
    return connection.exec(`BEGIN ISOLATION LEVEL READ COMMITTED; ${this.#settings}`)
  }

  async #within<T>(
    connection: Connection,
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    const result = await work(transactionOn(connection)).catch(async (error: unknown) => {
      if (!isOfDatabase(error)) await connection.exec('ROLLBACK')
      throw error
    })
    await commit(connection)
    return result
  }

  /** Runs `attempt` again after errors that a second run may not meet. */
  async #repeat<T>(attempt: (connection: Connection) => Promise<T>): Promise<T> {
    const until = this.#clock.elapsed() + again.maxMs
    for (let failures = 0; ;) {
      try {
        return await this.#connections.use(attempt)
      } catch (error) {
        failures += 1
        // A connection may have been closed while it was idle, or lead to a server that was the primary.
        // Then the next one is new.
        const isStale = failures === 1 && (error instanceof ConnectionFailed || isReadOnly(error))
        const mayHelp = isRepeatable(error) || isUnprepared(error) || isStale
        if (!mayHelp || this.#clock.elapsed() >= until) throw toUnavailable(error)
      }
      await this.#clock.sleep(again.restMs * failures * Math.random())
    }
  }
}

const unknown = 'The journal cannot be used: the connection failed during a commit.'

/** @throws OutcomeUnknown unless the server says that it did or did not commit */
async function commit(connection: Connection): Promise<void> {
  const command = await connection.exec('COMMIT').catch((error: unknown) => {
    throw isRefusal(error) ? error : new OutcomeUnknown(unknown)
  })
  // The server commits with a warning when it has not waited for its standby to the end.
  if (connection.hasWarned) throw new OutcomeUnknown(unknown)
  // It answers so when a statement before has failed.
  if (command === 'ROLLBACK') throw new ConnectionFailed(undefined)
}

function transactionOn(connection: Connection): Transaction {
  const all: Queries['all'] = async (statement, ...values) =>
    (await connection.run(statement, values)).rows
  return {
    all,
    get: async (...query) => (await all(...query))[0],
    run: async (statement, ...values) => (await connection.run(statement, values)).rowCount ?? 0,
    exec: (text) => connection.exec(text),
  }
}

function valuesOf([, ...values]: Step): readonly Value[] {
  return values
}
