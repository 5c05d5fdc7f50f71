import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Clock } from '../../platform/clock.ts'
import type { Secret } from '../hashes.ts'
import {
  type Answer,
  type Answers,
  ask,
  type Database,
  type Given,
  givenRows,
  type Lock,
  type Operation,
  type Row,
  runNow,
  type Statement,
  type Step,
} from '../sql.ts'
import { busy, JournalBusy, OutcomeUnknown } from '../contracts/errors.ts'
import { sqliteDialect } from './dialect.ts'
import { isOneOf, toUnavailable, unknownOutcome } from './failure.ts'
import { openDatabase, type OpenOptions } from './open-database.ts'
import { WriteAheadLog } from './write-ahead-log.ts'

export interface DatabaseOptions extends OpenOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** Called in each transaction before its changes. When it throws, nothing is changed. */
  readonly assertWritable?: (() => void) | undefined
}

/** One connection to the journal's file, with transactions and named statements. */
export class SqliteDatabase implements Database, Disposable {
  /** Undefined when the journal was opened for reading and has none. */
  readonly secret: Secret | undefined
  readonly log: WriteAheadLog
  readonly #db: DatabaseSync
  readonly #clock: DatabaseOptions['clock']
  readonly #assertWritable: DatabaseOptions['assertWritable']
  readonly #prepared = new Map<Statement, { statement: StatementSync; hasRows: boolean }>()

  /** @throws Error when the file is not a journal, cannot be opened, or is of a newer version. */
  constructor(file: string, options: DatabaseOptions) {
    this.#clock = options.clock
    this.#assertWritable = options.assertWritable
    const { db, secret } = openDatabase(file, options)
    this.#db = db
    this.secret = secret
    this.log = new WriteAheadLog(db, options.clock)
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  /**
   * Commits all that `work` changes, or nothing when it throws. What it commits without `isSynced` is on disk
   * only after `log.putOnDisk`, or after a later commit of any process.
   *
   * @throws JournalBusy while another process writes; OutcomeUnknown when the commit may have happened
   */
  transaction<T>(work: () => T, { isSynced = true } = {}): T {
    let result: T
    try {
      if (!isSynced) this.#db.exec('PRAGMA synchronous = NORMAL')
      this.#db.exec('BEGIN IMMEDIATE')
      this.#assertWritable?.()
      result = work()
      this.#commit()
    } catch (error) {
      // After some errors, for instance a full disk, SQLite has rolled back already.
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw toUnavailable(error)
    } finally {
      if (!isSynced) this.#db.exec('PRAGMA synchronous = FULL')
    }
    this.log.committed()
    return result
  }

  /**
   * When the sync of the log fails, SQLite takes the transaction back, but all of it may be in the log: then
   * a process that opens the journal after a crash finds it.
   */
  #commit(): void {
    try {
      this.#db.exec('COMMIT')
    } catch (error) {
      // Without the end of the commit in the log, it is no commit.
      if (!isOneOf(error, 'ioError') || isOneOf(error, 'ioErrorOfWrite')) throw error
      throw new OutcomeUnknown(unknownOutcome, { cause: error })
    }
  }

  /**
   * Like `transaction`, but waits while another process writes, and neither the loop nor a lock waits for the
   * disk. Rejects with `JournalBusy` after `busy.maxMs`.
   */
  async write<T>(work: () => T, { isSynced = true } = {}): Promise<T> {
    const result = await this.#commitInTurn(work)
    if (isSynced) await this.log.putOnDisk()
    return result
  }

  async #commitInTurn<T>(work: () => T): Promise<T> {
    const until = this.#clock.elapsed() + busy.maxMs
    for (;;) {
      try {
        return this.transaction(work, { isSynced: false })
      } catch (error) {
        if (!(error instanceof JournalBusy) || this.#clock.elapsed() >= until) throw error
      }
      await this.#clock.sleep(busy.retryMs)
    }
  }

  get file(): string {
    return this.#db.location() ?? ''
  }

  async query<const Steps extends readonly Step[]>(...steps: Steps): Promise<Answers<Steps>> {
    return this.#read(() => {
      // Must be short: it keeps the write-ahead log from shrinking.
      if (steps.length > 1) this.#db.exec('BEGIN')
      try {
        return this.runNow(ask<Steps>(...steps))
      } finally {
        if (steps.length > 1) this.#db.exec('COMMIT')
      }
    })
  }

  async queryTogether(statement: Statement, given: Given): Promise<readonly Row[]> {
    const [{ rows }] = await this.query([statement, givenRows([{ ...given, no: 1 }])])
    return rows
  }

  change<const Steps extends readonly Step[]>(
    locks: readonly Lock[],
    ...steps: Steps
  ): Promise<Answers<Steps>> {
    return this.transact(locks, () => ask<Steps>(...steps))
  }

  transact<T>(
    _: readonly Lock[],
    operation: () => Operation<T>,
    options?: { readonly isSynced: boolean },
  ): Promise<T> {
    return this.write(() => this.runNow(operation()), options)
  }

  /** Runs an operation within a transaction or a read. */
  runNow<T>(operation: Operation<T>): T {
    return runNow(operation, (step) => this.runStep(step))
  }

  /** Runs a statement within a transaction or a read. */
  runStep([statement, ...values]: Step): Answer {
    return this.run(
      statement,
      values.map((value) => (typeof value === 'boolean' ? Number(value) : value)),
    )
  }

  /** As `runStep`, with values of SQLite. */
  run(statement: Statement, values: readonly SQLInputValue[]): Answer {
    let prepared = this.#prepared.get(statement)
    if (!prepared) {
      const text = statement.text(sqliteDialect).replaceAll(/\$(\d+)/g, '?$1')
      const made = this.#db.prepare(text)
      prepared = { statement: made, hasRows: made.columns().length > 0 }
      this.#prepared.set(statement, prepared)
    }
    if (prepared.hasRows) return { rows: prepared.statement.all(...values), changes: 0 }
    return { rows: [], changes: Number(prepared.statement.run(...values).changes) }
  }

  #read<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw toUnavailable(error)
    }
  }
}
