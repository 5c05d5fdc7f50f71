import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { CallLedger, Quota } from './contracts/call-ledger.ts'
import { waitBeforeCall } from './call-windows.ts'

const hour = 60 * 60 * 1000
/** A little longer than the longest window, which is a day. */
const callsKept = 25 * hour

/** Up to this difference, the ledger's time and the wall clock count as equal. */
const agreeMs = 500

/** What an engine does for the ledger: it keeps the calls of one account. */
export interface CallStore {
  /**
   * Reads the calls with a number greater than `after`, in the order of their numbers, and adds the call
   * that `decide` returns, if any, with the next number. It may delete calls from before `keepFrom`. All
   * of that is one transaction, and no other process adds a call of the account meanwhile. `decide` runs
   * once more when the transaction has to be repeated. Resolves after the call is on disk.
   */
  add(after: number, decide: (others: readonly StoredCall[]) => NewCall | undefined): Promise<void>
}

export interface StoredCall {
  /** From 1, in the order of the calls. */
  readonly number: number
  readonly at: Millis
  /** Whether the clock of the process agreed with the wall clock. */
  readonly isSure: boolean
}

export interface NewCall extends StoredCall {
  readonly keepFrom: Millis
}

/** What the ledger knows after a reservation. */
interface Known {
  /** The times of all calls by the ledger's own time, ascending. */
  readonly calls: readonly Millis[]
  /** Number of the last call among them. */
  readonly seen: number
  /** The ledger's time `at` the moment `elapsed` of the elapsed clock. */
  readonly start: { readonly at: Millis; readonly elapsed: Millis }
}

interface Decided {
  readonly known: Known
  readonly wait: Millis
  /** The call to note. Undefined when it has to wait. */
  readonly call: NewCall | undefined
}

/** The call ledger of every engine: an account's calls that its store has noted, and a time of its own. */
export class NotedCalls implements CallLedger {
  readonly #store: CallStore
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>
  #known: Known
  /** Whether the first reservation has read the calls of earlier processes. */
  #hasBegun = false
  /** The last reservation that was asked for. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: CallStore, clock: Pick<Clock, 'now' | 'elapsed'>) {
    this.#store = store
    this.#clock = clock
    this.#known = { calls: [], seen: 0, start: { at: clock.now(), elapsed: clock.elapsed() } }
  }

  reserve(quota: Quota): Promise<Millis> {
    // One at a time, because each reservation has to see the call that the one before has noted.
    const reserved = this.#last.then(() => this.#reserve(quota))
    this.#last = reserved.catch(() => undefined)
    return reserved
  }

  async #reserve(quota: Quota): Promise<Millis> {
    let decided: Decided = { known: this.#known, wait: 0, call: undefined }
    await this.#store.add(this.#known.seen, (others) => {
      decided = this.#decide(others, quota)
      return decided.call
    })
    // Only now: a transaction that failed or is repeated leaves nothing behind.
    this.#hasBegun = true
    this.#known = decided.known
    return decided.wait
  }

  #decide(others: readonly StoredCall[], quota: Quota): Decided {
    const known = this.#hasBegun ? this.#withOthers(others) : this.#begun(others, quota)
    const now = this.#now(known)
    const wait = waitBeforeCall(known.calls, quota, now)
    if (wait > 0) return { known, wait, call: undefined }
    const at = Math.ceil(now)
    const number = known.seen + 1
    const calls = [...known.calls, at].slice(-quota.perDay)
    const call = { number, at, isSure: this.#agreesWithWall(now), keepFrom: at - callsKept }
    return { known: { ...known, calls, seen: number }, wait, call }
  }

  /**
   * Sets the ledger's time to the last call if that is later. Then moves the calls of the last minute
   * forward, as if the last one had been made just now.
   */
  #begun(others: readonly StoredCall[], { perMinute }: Quota): Known {
    const now = this.#now(this.#known)
    const calls = others.map(({ at }) => at).sort((a, b) => a - b)
    const last = calls.at(-1) ?? now
    const start = Math.max(now, last)
    return {
      calls: [
        ...calls.slice(0, -perMinute),
        ...calls.slice(-perMinute).map((at) => at + start - last),
      ],
      seen: others.at(-1)?.number ?? 0,
      start: { at: start, elapsed: this.#clock.elapsed() },
    }
  }

  /** Adds the calls that other processes have made since the last reservation. */
  #withOthers(others: readonly StoredCall[]): Known {
    const last = others.at(-1)
    if (!last) return this.#known
    const now = this.#now(this.#known)
    const areClocksOne = this.#agreesWithWall(now)
    const times = others.map(({ at, isSure }) => (areClocksOne && isSure ? at : now))
    const calls = [...this.#known.calls, ...times].sort((a, b) => a - b)
    return { ...this.#known, calls, seen: last.number }
  }

  #now({ start }: Known): Millis {
    return start.at + this.#clock.elapsed() - start.elapsed
  }

  #agreesWithWall(now: Millis): boolean {
    return Math.abs(now - this.#clock.now()) <= agreeMs
  }
}
