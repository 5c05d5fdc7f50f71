import type { CallLedger, Quota } from '../journal/contracts/call-ledger.ts'
import { type Clock, minute } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/** At most this part of a minute's calls goes beyond the shares of sites. */
const beyondPart = 0.8

export interface CallTurnsOptions {
  readonly ledger: CallLedger
  readonly quota: Quota
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** How many sites have the account, on this instance and others. At least 1. */
  readonly sites: number
}

interface Waiting {
  /** The times of its site's calls in the last minute, ascending. */
  readonly calls: Millis[]
  readonly give: (askedAt: Millis) => void
  readonly fail: (error: Error) => void
}

/**
 * Gives the calls of one account to the sites of this process by turns. The ledger decides when there is
 * a call; this decides whose it is.
 *
 * A site's share is the calls of a minute, divided by the number of sites and rounded up. A site that had
 * fewer than its share in the last minute goes first: the one with the fewest calls. A site that had its share waits for
 * those, and calls beyond shares keep a distance, so that they use no more than a part of the minute's
 * calls. When half of these are used, all others keep a distance, too. So the calls never come all at once
 * with a long wait behind them, and a site that begins gets its call within seconds.
 */
export class CallTurns {
  readonly #options: CallTurnsOptions
  /** How many calls a site may have had in the last minute and still go first. */
  readonly #share: number
  #waiting: Waiting[] = []
  #isGiving = false
  #wake = new AbortController()
  #lastBeyond = -Infinity
  /** The calls of all sites in the last minute. */
  readonly #all = { calls: [] as Millis[] }

  constructor(options: CallTurnsOptions) {
    this.#options = options
    this.#share = Math.ceil(options.quota.perMinute / options.sites)
  }

  /**
   * The turns of one more site. Each waits for a reserved call, and returns the elapsed time before it was
   * reserved. Rejects when `signal` aborts.
   */
  join(): (signal: AbortSignal) => Promise<Millis> {
    const calls: Millis[] = []
    return async (signal) => {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<Millis>()
      const waiting: Waiting = { calls, give: resolve, fail: reject }
      const aborted = () => {
        this.#leave(waiting)
        reject(signal.reason as Error)
        this.#wake.abort()
      }
      signal.addEventListener('abort', aborted)
      this.#waiting.push(waiting)
      this.#wake.abort()
      if (!this.#isGiving) void this.#giveAll()
      return promise.finally(() => signal.removeEventListener('abort', aborted))
    }
  }

  #leave(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting)
  }

  async #giveAll(): Promise<void> {
    const { ledger, quota, clock } = this.#options
    this.#isGiving = true
    while (this.#waiting.length > 0) {
      this.#wake = new AbortController()
      const askedAt = this.#now()
      try {
        const wait = this.#distanceMs() || (await ledger.reserve(quota))
        if (wait > 0) await clock.sleep(wait, this.#wake.signal)
        else this.#give(askedAt)
      } catch (error) {
        for (const { fail } of this.#waiting.splice(0)) fail(error as Error)
      }
    }
    this.#isGiving = false
  }

  /**
   * Gives a reserved call to the one with the fewest calls in the last minute, of several to the one whose
   * last call is the oldest. Nobody gets it when all have left meanwhile.
   */
  #give(askedAt: Millis): void {
    const now = this.#now()
    const [next] = this.#waiting.toSorted(
      ({ calls: one }, { calls: other }) =>
        one.length - other.length || (one.at(-1) ?? 0) - (other.at(-1) ?? 0),
    )
    if (!next) return
    if (this.#hadShare(next)) this.#lastBeyond = now
    next.calls.push(now)
    this.#all.calls.push(now)
    this.#leave(next)
    next.give(askedAt)
  }

  /** How long to wait before the next call, so that it keeps its distance. */
  #distanceMs(): Millis {
    const { quota, sites } = this.#options
    const now = this.#now()
    for (const { calls } of [this.#all, ...this.#waiting]) {
      while ((calls[0] ?? Infinity) <= now - minute) calls.shift()
    }
    if (sites === 1) return 0
    const distance = minute / quota.perMinute
    const { calls } = this.#all
    const last = calls.length >= quota.perMinute / 2 ? (calls.at(-1) ?? -Infinity) : -Infinity
    const isBeyond = this.#waiting.every((waiting) => this.#hadShare(waiting))
    const beyond = isBeyond ? this.#lastBeyond + distance / beyondPart : -Infinity
    return Math.max(0, last + distance - now, beyond - now)
  }

  #hadShare({ calls }: Waiting): boolean {
    return calls.length >= this.#share
  }

  #now(): Millis {
    return this.#options.clock.elapsed()
  }
}
