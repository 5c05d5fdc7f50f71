import type { CallLedger, Quota } from '../journal/contracts/call-ledger.ts'
import { type Clock, day, minute } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import { Bucket } from './bucket.ts'
import { Turns } from './turns.ts'

export interface AccountOptions {
  readonly ledger: CallLedger
  readonly quota: Quota
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** How many sites have the account, on this instance and others. At least 1. */
  readonly sites: number
}

export interface AccountShare {
  readonly gate: CallGate
  /** For the calls that remove rows. */
  readonly removalGate: CallGate
  readonly allowance: BatchAllowance
}

/** When a site may send a batch that is not full. */
export interface BatchAllowance {
  /** Milliseconds until it may, if no other site does before; 0 when it may now. */
  wait(): Millis
  take(): void
}

/** How long a removal that has no call waits at most before it asks again, as `forget` may hasten it. */
const askAgainMs = 10_000

/** A call that is made so long after its reservation may fall into other windows of the quota. */
const lateMs = 1000

/** So many calls of several sites may come at once. */
const burstPart = 0.2

/**
 * How often a batch may be sent that is not full. The first batches of a busy time go at once, about one
 * a second. Later ones are fewer and larger, so that a whole day of them takes four fifths of the day's
 * calls and leaves the rest for reads, confirmations and pruning.
 *
 * Full batches take no token: 286 of them fill a spreadsheet, so they cannot use up a day's calls.
 */
export function batchPace({ perDay }: Quota, sites: number) {
  return {
    capacity: Math.max(1, Math.min(15, Math.floor(perDay / 10 / sites))),
    refillMs: Math.max(12_000, day / (perDay * 0.8)),
  }
}

/**
 * An account at a provider, whose quota the sites of this process share by turns. The ledger decides when
 * there is a call. Calls of several sites come from a bucket that holds a fifth of a minute's and gains the
 * rest within the minute, so that the ledger never makes a site wait that has just begun.
 */
export class Account {
  readonly #options: AccountOptions
  readonly #turns: Turns
  readonly #batches: Bucket
  /** For each site of this process, whether it delivers. */
  readonly #delivering: (() => boolean)[] = []

  constructor(options: AccountOptions) {
    const { ledger, quota, sites, clock } = options
    this.#options = options
    const atOnce = Math.max(1, Math.floor(quota.perMinute * burstPart))
    const distanceMs = minute / (quota.perMinute * (1 - burstPart))
    const calls = new Bucket(atOnce, () => distanceMs, clock)
    this.#turns = new Turns(async () => {
      const wait = (sites > 1 && calls.wait()) || (await ledger.reserve(quota))
      if (wait === 0) calls.take()
      return wait
    }, clock)
    const { capacity, refillMs } = batchPace(quota, sites)
    // Other instances have the tokens of the sites for which they deliver.
    const here = () => Math.max(1, this.#delivering.filter((delivers) => delivers()).length)
    this.#batches = new Bucket(capacity, () => (refillMs * sites) / here(), clock)
  }

  /** To call once for each site. @param delivers whether this instance delivers for it */
  join(delivers: () => boolean = () => true): AccountShare {
    this.#delivering.push(delivers)
    return {
      gate: this.#gate(this.#turns.join(), delivers),
      removalGate: this.#gate((signal) => this.#reserveRemoval(signal), delivers),
      allowance: this.#allowance(),
    }
  }

  /**
   * Each site has a bucket of its own, so that a quiet one need not wait for a busy one. What it takes counts for
   * the account, so that a busy site beside quiet ones gets what they leave.
   */
  #allowance(): BatchAllowance {
    const { quota, sites, clock } = this.#options
    const { capacity, refillMs } = batchPace(quota, sites)
    const own = new Bucket(capacity, () => refillMs * sites, clock)
    return {
      wait: () => Math.min(own.wait(), this.#batches.wait()),
      take: () => {
        this.#batches.take()
        if (own.wait() === 0) own.take()
      },
    }
  }

  async #reserveRemoval(signal: AbortSignal): Promise<Millis> {
    const { ledger, quota, clock } = this.#options
    for (;;) {
      signal.throwIfAborted()
      const askedAt = clock.elapsed()
      const wait = await ledger.reserve(quota, 'removal')
      if (wait === 0) return askedAt
      await clock.sleep(Math.min(wait, askAgainMs), signal)
    }
  }

  /** @param reserve waits for a reserved call, and returns the elapsed time before it was reserved */
  #gate(reserve: (signal: AbortSignal) => Promise<Millis>, delivers: () => boolean): CallGate {
    // A call that comes late is reserved anew, because the process may have been suspended in between.
    // Each time it may come twice as late, so that a slow disk does not end delivery.
    return async (signal, maySend = async () => true) => {
      for (let maxMs = lateMs; ; maxMs *= 2) {
        const reservedAt = await reserve(signal)
        if (!(await maySend())) return false
        if (!delivers()) throw new Error('Another instance may deliver by now.')
        if (this.#options.clock.elapsed() - reservedAt <= maxMs) return true
        signal.throwIfAborted()
      }
    }
  }
}
