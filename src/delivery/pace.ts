import type { Quota } from '../journal/contracts/call-ledger.ts'
import type { Millis } from '../signup/signup.ts'

const minute = 60 * 1000
const day = 24 * 60 * minute

/** Settings of a token bucket: it holds at most `capacity` tokens and gains one every `refillMs`. */
export interface TokenBucket {
  readonly capacity: number
  readonly refillMs: Millis
}

/**
 * How often a batch may be sent that is not full. The first batches of a busy time go at once, about one
 * a second. Later ones are fewer and larger, so that a whole day of them takes four fifths of the day's
 * calls and leaves the rest for reads, confirmations and pruning.
 *
 * Full batches take no token: 286 of them fill a spreadsheet, so they cannot use up a day's calls.
 *
 * @param sites how many sites have the quota; the capacity is that of each, the refill that of all together
 */
export function batchBucket(quota: Quota, sites: number): TokenBucket {
  return {
    capacity: Math.max(1, Math.min(15, Math.floor(quota.perDay / 10 / sites))),
    refillMs: Math.max(12_000, day / (quota.perDay * 0.8)),
  }
}
