import type { Clock } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type { CallLedger, Quota } from '../call-ledger.ts'
import { waitBeforeCall } from '../call-windows.ts'
import type { SqliteDatabase } from './database.ts'

const hour = 60 * 60 * 1000
/** A little longer than the longest window, which is a day. */
const callsKept = 25 * hour

/** Up to this difference, the ledger's time and the wall clock count as equal. */
const agreeMs = 500

export class SqliteCallLedger implements CallLedger {
  readonly #db: SqliteDatabase
  readonly #account: string
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>
  /** The times of all calls by this ledger's own time, ascending. */
  #calls: Millis[] = []
  /** Number of the last call among them. */
  #seen = 0
  /** The ledger's time `at` the moment `elapsed` of the elapsed clock. */
  #start: { readonly at: Millis; readonly elapsed: Millis }
  /** Whether the first reservation has read the calls of earlier processes. */
  #hasBegun = false
  /** The last reservation that was asked for. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(db: SqliteDatabase, account: string, clock: Pick<Clock, 'now' | 'elapsed'>) {
    this.#db = db
    this.#account = account
    this.#clock = clock
    this.#start = { at: clock.now(), elapsed: clock.elapsed() }
  }

  reserve(quota: Quota): Promise<Millis> {
    // One at a time, because each reservation has to see the call that the one before has noted.
    const reserved = this.#last.then(() => this.#reserve(quota))
    this.#last = reserved.catch(() => undefined)
    return reserved
  }

  async #reserve(quota: Quota): Promise<Millis> {
    const result = await this.#db.write(() => {
      if (this.#hasBegun) this.#seeOthers()
      else this.#begin(quota)
      const now = this.#now()
      const wait = waitBeforeCall(this.#calls, quota, now)
      if (wait > 0) return { wait, at: 0 }
      const at = Math.ceil(now)
      const isSure = Number(this.#agreesWithWall(now))
      this.#db.run('addCall', this.#account, this.#seen + 1, at, isSure)
      this.#db.run('deleteCalls', this.#account, at - callsKept)
      return { wait: 0, at }
    })
    if (result.wait > 0) return result.wait
    this.#seen += 1
    this.#calls.push(result.at)
    while (this.#calls.length > quota.perDay) this.#calls.shift()
    return 0
  }

  /**
   * Sets the ledger's time to the last call if that is later. Then moves the calls of the last minute
   * forward, as if the last one had been made just now.
   */
  #begin({ perMinute }: Quota): void {
    const known = this.#read()
    const now = this.#now()
    const calls = known.map(({ at }) => at).sort((a, b) => a - b)
    const last = calls.at(-1) ?? now
    const start = Math.max(now, last)
    this.#calls = [
      ...calls.slice(0, -perMinute),
      ...calls.slice(-perMinute).map((at) => at + start - last),
    ]
    this.#start = { at: start, elapsed: this.#clock.elapsed() }
    this.#hasBegun = true
  }

  /** Adds the calls that other processes have made since the last reservation. */
  #seeOthers(): void {
    const others = this.#read()
    if (others.length === 0) return
    const now = this.#now()
    const areClocksOne = this.#agreesWithWall(now)
    for (const { at, isSure } of others) this.#calls.push(areClocksOne && isSure ? at : now)
    this.#calls.sort((a, b) => a - b)
  }

  #read(): readonly { readonly at: Millis; readonly isSure: boolean }[] {
    const rows = this.#db.all('callsAfter', this.#account, this.#seen)
    this.#seen = Number(rows.at(-1)?.['number'] ?? this.#seen)
    return rows.map(({ at, isSure }) => ({ at: Number(at), isSure: isSure === 1 }))
  }

  #now(): Millis {
    const { at, elapsed } = this.#start
    return at + this.#clock.elapsed() - elapsed
  }

  #agreesWithWall(now: Millis): boolean {
    return Math.abs(now - this.#clock.now()) <= agreeMs
  }
}
