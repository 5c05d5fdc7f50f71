import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Clock } from '../../platform/clock.ts'
import { codeOf, syncFile } from '../../platform/node/durable-file.ts'
import { OutcomeUnknown } from '../contracts/errors.ts'
import { toUnavailable, unknownOutcome } from './failure.ts'
import { LogThread } from './log-thread.ts'
import { blockedMaxMs } from './open-database.ts'

/** From how many pages on the log is written into the database. */
const pagesMax = 1_000
/** Up to how many pages the log needs no thread to be emptied. They take a millisecond. */
const fewPages = 100
/** From how many pages on a commit writes the log although there is a thread. */
const commitWritesPages = 20_000
/** How long to wait before the next look at the log. A look takes a few microseconds. */
const lookEveryMs = 10

/** The program of a thread that writes the log. */
export const logProgram = new URL('write-log.js', import.meta.url)

/**
 * SQLite's log of what was committed and is not in the database yet. SQLite writes it within the commit that makes
 * it long, which keeps the event loop waiting. A thread can do that instead.
 */
export class WriteAheadLog implements AsyncDisposable {
  readonly #db: DatabaseSync
  readonly #clock: Pick<Clock, 'elapsed'>
  #thread: LogThread | undefined
  /** Tells how long the log is, where there is a thread. */
  #look: StatementSync | undefined
  #lookAt = 0

  constructor(db: DatabaseSync, clock: Pick<Clock, 'elapsed'>) {
    this.#db = db
    this.#clock = clock
  }

  /** From now on a thread with this program writes the log. It keeps writers out for a moment. */
  useThread(program: URL): void {
    const db = this.#db
    db.exec(`PRAGMA wal_autocheckpoint = ${commitWritesPages}`)
    // SQLite before 3.51 knows no NOOP, and writes the log at each look.
    this.#look = db.prepare('PRAGMA wal_checkpoint(NOOP)')
    this.#thread = new LogThread(program, db.location() ?? '', () => {
      this.#thread = undefined
      if (db.isOpen) db.exec(`PRAGMA wal_autocheckpoint = ${pagesMax}`)
    })
  }

  /** Ends the thread. */
  async [Symbol.asyncDispose](): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.[Symbol.asyncDispose]()
  }

  /** To be called after each commit. */
  committed(): void {
    const now = this.#clock.elapsed()
    if (!this.#thread || now < this.#lookAt) return
    this.#lookAt = now + lookEveryMs
    if (this.#waiting() > pagesMax) void this.#thread.write()
  }

  /**
   * Puts everything that was committed so far on disk. Needs no room there, and nobody waits meanwhile.
   *
   * @throws OutcomeUnknown when the disk does not take it
   */
  async putOnDisk(): Promise<void> {
    const file = this.#db.location()
    if (file === null) return
    try {
      await syncFile(`${file}-wal`)
    } catch (error) {
      // Who closes the journal last writes the log into the database.
      if (codeOf(error) === 'ENOENT') return
      // The process may have no more files. SQLite has its own, and syncs the log before it writes it.
      if (this.#db.isOpen && this.#isCheckpointed()) return
      throw new OutcomeUnknown(unknownOutcome, { cause: error })
    }
  }

  /** Writes most of the log into the database, without the lock that keeps writers out. */
  async write(): Promise<void> {
    if (!this.#thread) this.#checkpoint('PASSIVE')
    else if (this.#waiting() > fewPages) await this.#thread.write()
  }

  /**
   * Writes what is left of the log and empties it. That is short after `write`. Resolves with false when another
   * process reads or writes just now.
   */
  async empty(): Promise<boolean> {
    await this.#thread?.rested()
    this.#checkpoint('PASSIVE')
    // SQLite would wait for readers while it holds the lock that keeps writers out.
    this.#db.exec('PRAGMA busy_timeout = 0')
    try {
      return this.#checkpoint('TRUNCATE')?.['busy'] === 0
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${blockedMaxMs}`)
    }
  }

  #isCheckpointed(): boolean {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
      return true
    } catch {
      return false
    }
  }

  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE') {
    return orUnavailable(() => this.#db.prepare(`PRAGMA wal_checkpoint(${mode})`).get())
  }

  /** How many pages are not in the database yet. */
  #waiting(): number {
    try {
      const { log, checkpointed } = this.#look?.get() ?? {}
      return Number(log) - Number(checkpointed)
    } catch {
      // What was committed before is committed, whatever this finds.
      return 0
    }
  }
}

function orUnavailable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toUnavailable(error)
  }
}
