import { existsSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

import type { Clock } from '../../platform/clock.ts'
import { syncFileNow } from '../../platform/node/durable-file.ts'
import type { Secret } from '../hashes.ts'
import { busy, JournalBusy, JournalUnavailable, OutcomeUnknown } from '../contracts/unavailable.ts'
import { copyDatabase } from './copy-database.ts'
import { isExactly, isOneOf } from './error-codes.ts'
import { blockedMaxMs, openDatabase, type OpenOptions } from './open-database.ts'
import { addressIndex } from './schema.ts'
import { statements } from './statements.ts'

type Name = keyof typeof statements

export interface DatabaseOptions extends OpenOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** Called in each transaction before its changes. When it throws, nothing is changed. */
  readonly assertWritable?: (() => void) | undefined
}

/** One connection to the journal's file, with transactions and named statements. */
export class SqliteDatabase {
  /** Undefined when the journal was opened for reading and has none. */
  readonly secret: Secret | undefined
  readonly #db: DatabaseSync
  readonly #clock: DatabaseOptions['clock']
  readonly #assertWritable: DatabaseOptions['assertWritable']
  readonly #prepared = new Map<Name, StatementSync>()

  /** @throws Error when the file is not a journal, cannot be opened, or is of a newer version. */
  constructor(file: string, options: DatabaseOptions) {
    this.#clock = options.clock
    this.#assertWritable = options.assertWritable
    const { db, secret } = openDatabase(file, options)
    this.#db = db
    this.secret = secret
  }

  close(): void {
    this.#db.close()
  }

  /**
   * Commits all that `work` changes, or nothing when it throws.
   *
   * @throws JournalBusy while another process writes; OutcomeUnknown when the commit may have happened
   */
  transaction<T>(work: () => T): T {
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      this.#assertWritable?.()
      const result = work()
      this.#commit()
      return result
    } catch (error) {
      // After some errors, for instance a full disk, SQLite has rolled back already.
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw toUnavailable(error)
    }
  }

  /**
   * When the sync of the log fails, SQLite takes the transaction back, but all of it may be in the log: then
   * a process that opens the journal after a crash finds it.
   */
  #commit(): void {
    try {
      this.#db.exec('COMMIT')
    } catch (error) {
      if (!isOneOf(error, [ioError]) || isExactly(error, ioErrorOfWrite)) throw error
      throw new OutcomeUnknown(
        'The journal cannot be used: its disk did not tell what became of a commit.',
        { cause: error },
      )
    }
  }

  /**
   * Like `transaction`, but what it commits is on disk only after `putOnDisk`, or after a later commit of any
   * process. So it does not wait for the disk while it keeps others from writing.
   */
  unsyncedTransaction<T>(work: () => T): T {
    this.#db.exec('PRAGMA synchronous = NORMAL')
    try {
      return this.transaction(work)
    } finally {
      this.#db.exec('PRAGMA synchronous = FULL')
    }
  }

  /** Puts everything that was committed so far on disk. Needs no room there. */
  putOnDisk(): void {
    const log = `${this.#db.location() ?? ''}-wal`
    this.read(() => existsSync(log) && syncFileNow(log))
  }

  /** Like `transaction`, but waits while another process writes. Rejects with `JournalBusy` after `busy.maxMs`. */
  write<T>(work: () => T): Promise<T> {
    return this.retry(() => this.transaction(work))
  }

  /** Calls `attempt` again while it throws `JournalBusy`. Rejects with that after `busy.maxMs`. */
  async retry<T>(attempt: () => T): Promise<T> {
    const until = this.#clock.elapsed() + busy.maxMs
    for (;;) {
      try {
        return attempt()
      } catch (error) {
        if (!(error instanceof JournalBusy) || this.#clock.elapsed() >= until) throw error
      }
      await this.#clock.sleep(busy.retryMs)
    }
  }

  /** Runs several reads, which all see the journal of one moment. Must be short: it keeps the WAL from shrinking. */
  snapshot<T>(work: () => T): T {
    return this.read(() => {
      this.#db.exec('BEGIN')
      try {
        return work()
      } finally {
        this.#db.exec('COMMIT')
      }
    })
  }

  read<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw toUnavailable(error)
    }
  }

  /**
   * Leaves no copy of what was erased: in the index of addresses, and in the write-ahead log. Takes two
   * seconds for a million signups with that index. Returns false when another process reads or writes
   * just now.
   */
  dropCopies(): boolean {
    try {
      this.read(() => {
        if (this.#db.prepare(addressIndex.find).get()) this.#db.exec(addressIndex.rebuild)
      })
    } catch (error) {
      if (error instanceof JournalBusy) return false
      throw error
    }
    return this.emptyLog()
  }

  /**
   * Writes all of the write-ahead log into the database and empties the log. Returns false when another
   * process reads or writes just now.
   */
  emptyLog(): boolean {
    return this.read(() => {
      // Most of the work is done without the lock that keeps writers out: all of the log, and then what
      // others wrote meanwhile.
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA wal_checkpoint(PASSIVE)')
      // SQLite would wait for readers while it holds that lock.
      this.#db.exec('PRAGMA busy_timeout = 0')
      try {
        return this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
      } finally {
        this.#db.exec(`PRAGMA busy_timeout = ${blockedMaxMs}`)
      }
    })
  }

  /** Copies the database of this moment: see `copyDatabase`. This connection must be idle meanwhile. */
  copyTo(file: string, stop: AbortSignal): Promise<void> {
    return copyDatabase(this.#db, file, stop)
  }

  get(name: Name, ...values: SQLInputValue[]) {
    return this.#statement(name).get(...values)
  }

  all(name: Name, ...values: SQLInputValue[]) {
    return this.#statement(name).all(...values)
  }

  /** Runs a statement and returns how many rows it changed. */
  run(name: Name, ...values: SQLInputValue[]): number {
    return Number(this.#statement(name).run(...values).changes)
  }

  /** Adds a row and returns its rowid. */
  insert(name: Name, ...values: SQLInputValue[]): number {
    return Number(this.#statement(name).run(...values).lastInsertRowid)
  }

  #statement(name: Name): StatementSync {
    let statement = this.#prepared.get(name)
    if (!statement) {
      statement = this.#db.prepare(statements[name])
      this.#prepared.set(name, statement)
    }
    return statement
  }
}

/** SQLITE_IOERR. */
const ioError = 10
/** SQLITE_IOERR_WRITE: the end of the commit is not in the log, as when a file may not grow. */
const ioErrorOfWrite = 778
/** SQLITE_BUSY and SQLITE_LOCKED. */
const occupied = [5, 6]

/** Turns SQLite's errors (disk full, I/O, locked) into the journal's, and returns other errors as they are. */
function toUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const Kind = isOneOf(error, occupied) ? JournalBusy : JournalUnavailable
  return new Kind(`The journal cannot be used: ${error.message}.`, { cause: error })
}
