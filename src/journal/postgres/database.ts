import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { OutcomeUnknown } from '../contracts/errors.ts'
import {
  type Answer,
  type Answers,
  type Database,
  type Given,
  givenRows,
  type Lock,
  type Operation,
  type Row,
  run,
  type Statement,
  statementsOf,
} from '../sql.ts'
import {
  type Connection,
  Connections,
  type DatabaseLimits,
  defaultLimits,
  type Step,
} from './connections.ts'
import {
  ConnectionFailed,
  isOfDatabase,
  isReadOnly,
  isRefusal,
  isRepeatable,
  isUnprepared,
  toUnavailable,
} from './failure.ts'

export interface DatabaseOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  readonly limits?: Partial<DatabaseLimits> | undefined
}

/**
 * Makes the commit of this transaction wait until it is on disk, also where the server is set not to. The
 * other values of `synchronous_commit` wait for the disk, and some for a standby, so they are kept.
 */
export const syncedCommit = `SELECT set_config('synchronous_commit', 'on', true)
  WHERE current_setting('synchronous_commit') = 'off'`
const unsyncedCommit = 'SET LOCAL synchronous_commit = off'

const sql = statementsOf('postgres database', {
  // The commit of a message waits for everything that was committed before. No table has it.
  putOnDisk: "SELECT pg_logical_emit_message(true, 'rollcall', '')",
  lockHead: 'SELECT position FROM head FOR UPDATE',
  lockSite: 'SELECT id FROM site WHERE id = $1 FOR UPDATE',
  // The first transaction of an account makes its row. Nobody reads the number.
  lockAccount: `INSERT INTO account (name, number) VALUES ($1, 1)
                ON CONFLICT (name) DO UPDATE SET number = account.number + 1`,
})

/** The statement that waits for a lock. */
function stepOf(lock: Lock): readonly [Statement, ...(number | string)[]] {
  switch (lock.of) {
    case 'head':
      return [sql.lockHead]
    case 'site':
      return [sql.lockSite, lock.site]
    case 'account':
      return [sql.lockAccount, lock.account]
  }
}

/** The longest time that a timer of Node takes. */
const timerMax = 2 ** 31 - 1

/** For how long, and how often, a transaction is run again that met others. */
const again = { maxMs: 5_000, restMs: 10 } as const

interface Asked {
  readonly given: Given[]
  /** By their `no`. */
  readonly rowsOf: Promise<ReadonlyMap<number, readonly Row[]>>
}

/**
 * The journal's database, with transactions. Every call rejects with `JournalUnavailable` when the
 * database cannot be used, and with `OutcomeUnknown`, which is one, when a commit may have happened.
 */
export class PostgresDatabase implements Database, AsyncDisposable {
  readonly #connections: Connections
  readonly #clock: DatabaseOptions['clock']
  /**
   * Poolers keep no setting of a session, so each transaction brings its own. PostgreSQL keeps the plans
   * of statements. A plan from when a table was small would read the whole table, so `enable_seqscan` is
   * off. Up to version 17 PostgreSQL then takes plans for expensive ones and compiles each of them for
   * seconds, so `jit` is off, too.
   */
  readonly #settings: string
  /** What is asked with each statement in this turn of the event loop. */
  readonly #asked = new Map<Statement, Asked>()
  /** For all who ask in this turn of the event loop. */
  #putting: Promise<void> | undefined

  /** Connects only when it is used. */
  constructor(url: string, { clock, limits = {} }: DatabaseOptions) {
    const all = { ...defaultLimits, ...limits }
    this.#clock = clock
    this.#connections = new Connections(url, all)
    this.#settings = `SET LOCAL lock_timeout = ${all.lockMs};
      SET LOCAL statement_timeout = ${all.statementMs};
      SET LOCAL idle_in_transaction_session_timeout = ${all.idleMs};
      SET LOCAL search_path = rollcall;
      SET LOCAL enable_seqscan = off;
      SET LOCAL jit = off;`
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connections.close()
  }

  /** Each statement may run twice. */
  query<const Steps extends readonly Step[]>(...steps: Steps): Promise<Answers<Steps>> {
    const isolation = steps.length === 1 ? readCommitted : 'REPEATABLE READ READ ONLY'
    return this.#repeat(async (connection) => {
      const answers = await this.#inOneGo(connection, steps, isolation).catch((error: unknown) => {
        throw error instanceof OutcomeUnknown ? new ConnectionFailed(undefined) : error
      })
      return answers as Answers<Steps>
    })
  }

  async queryTogether(statement: Statement, given: Given): Promise<readonly Row[]> {
    const asked = this.#asked.get(statement) ?? this.#ask(statement)
    const no = asked.given.push({ ...given, no: asked.given.length + 1 })
    return (await asked.rowsOf).get(no) ?? []
  }

  /** Sends the statement after this turn of the event loop, for all who ask until then. */
  #ask(statement: Statement): Asked {
    const given: Given[] = []
    const send = async () => {
      await turn()
      this.#asked.delete(statement)
      const [{ rows }] = await this.query([statement, givenRows(given)])
      return Map.groupBy(rows, ({ no }) => Number(no))
    }
    const asked = { given, rowsOf: send() }
    this.#asked.set(statement, asked)
    return asked
  }

  change<const Steps extends readonly Step[]>(
    locks: readonly Lock[],
    ...steps: Steps
  ): Promise<Answers<Steps>> {
    return this.#change(locks, steps, syncedCommit)
  }

  /** As `change`, but the commit is on disk only after `putOnDisk`, or after a later one. */
  changeUnsynced<const Steps extends readonly Step[]>(
    locks: readonly Lock[],
    ...steps: Steps
  ): Promise<Answers<Steps>> {
    return this.#change(locks, steps, unsyncedCommit)
  }

  async #change<const Steps extends readonly Step[]>(
    locks: readonly Lock[],
    steps: Steps,
    sync: string,
  ): Promise<Answers<Steps>> {
    const first = locks.map(stepOf)
    const answers = await this.#repeat((connection) =>
      this.#inOneGo(connection, [...first, ...steps], readCommitted, sync),
    )
    return answers.slice(first.length) as unknown as Answers<Steps>
  }

  /** Nobody waits for the locks until the commit is on disk: only the caller does, with `isSynced`. */
  async transact<T>(
    locks: readonly Lock[],
    operation: () => Operation<T>,
    { isSynced = true } = {},
  ): Promise<T> {
    const result = await this.#repeat(async (connection) => {
      const send = (steps: readonly Step[]) => Promise.all(steps.map(connection.run))
      // Without a transaction, each of its statements would commit.
      await this.#begin(connection, readCommitted, unsyncedCommit)
      const result = await run(locking(locks, operation()), send).catch(async (error: unknown) => {
        if (!isOfDatabase(error)) await connection.exec('ROLLBACK')
        throw error
      })
      await commit(connection)
      return result
    })
    if (isSynced) await this.putOnDisk()
    return result
  }

  /** Resolves when everything that was committed is on disk, and at the standby if the settings say so. */
  putOnDisk(): Promise<void> {
    this.#putting ??= this.#putOnDisk()
    return this.#putting
  }

  async #putOnDisk(): Promise<void> {
    await turn()
    this.#putting = undefined
    await this.change([], [sql.putOnDisk]).catch(() => {
      throw new OutcomeUnknown(unknown)
    })
  }

  /**
   * Runs one statement that changes tables or indexes, however long it takes. It must be one that may run
   * twice.
   */
  exec(text: string): Promise<unknown> {
    return this.#repeat((connection) => connection.exec(text, timerMax))
  }

  async #inOneGo(
    connection: Connection,
    steps: readonly Step[],
    isolation: string,
    sync?: string,
  ): Promise<readonly Answer[]> {
    const begun = this.#begin(connection, isolation, sync).catch(() => {
      // Without a transaction, each of the statements behind it commits.
      throw new OutcomeUnknown(unknown)
    })
    const sent = steps.map(connection.run)
    const committed = commit(connection)
    committed.catch(() => {})
    const [, answers] = await Promise.all([begun, Promise.all(sent)]).catch((error: unknown) => {
      // The server does not commit after an error. But a pooler answers so, too, when it has lost the server
      // that the commit went to.
      throw isOfDatabase(error) && !isRefusal(error) ? new OutcomeUnknown(unknown) : error
    })
    await committed
    return answers
  }

  /** Under another isolation, statements would not see what earlier holders of the lock have committed. */
  #begin(connection: Connection, isolation: string, sync = ''): Promise<string> {
    return connection.exec(`BEGIN ISOLATION LEVEL ${isolation}; ${this.#settings} ${sync}`)
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

/** Takes the locks in the trip of the first list, so that they are not held for a trip before it. */
function* locking<T>(locks: readonly Lock[], operation: Operation<T>): Operation<T> {
  const first = locks.map(stepOf)
  let next = operation.next()
  for (let before = first; !next.done; before = []) {
    const answers = yield [...before, ...next.value]
    next = operation.next(answers.slice(before.length))
  }
  return next.value
}

/** Resolves as `work` does. Closes the database when it fails. */
export async function orClose<T>(db: PostgresDatabase, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await db[Symbol.asyncDispose]()
    throw error
  }
}

const readCommitted = 'READ COMMITTED'

const unknown = 'The journal cannot be used: the connection failed during a commit.'

/** @throws OutcomeUnknown unless the server says that it did or did not commit */
async function commit(connection: Connection): Promise<void> {
  const command = await connection.exec('COMMIT').catch((error: unknown) => {
    throw isRefusal(error) ? error : new OutcomeUnknown(unknown)
  })
  // The server commits with a warning when it has not waited for its standby to the end.
  if (connection.hasWarned) throw new OutcomeUnknown(unknown)
  // COMMIT answers ROLLBACK after a failed statement.
  if (command === 'ROLLBACK') throw new ConnectionFailed(undefined)
}
