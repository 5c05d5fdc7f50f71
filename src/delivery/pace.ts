import type { Quota } from '../journal/call-ledger.ts'
import type { Millis } from '../signup/signup.ts'

const minute = 60 * 1000
const day = 24 * 60 * minute

/** Settings of a token bucket: it holds at most `capacity` tokens and gains one every `refillMs`. */
export interface TokenBucket {
  readonly capacity: number
  readonly refillMs: Millis
}

/** Where there is no quota. */
export const bottomless: TokenBucket = { capacity: Infinity, refillMs: 1 }

/** What a token bucket holds, and when that was so. */
export interface Tokens {
  readonly count: number
  readonly at: Millis
}

/**
 * How often a batch may be sent. The first ones of a busy time go at once, about one a second; when
 * it stays busy, fewer and larger ones, so that four fifths of the day's calls are enough for a whole
 * day of batches and the rest is left for reads, confirmations and pruning. The bounds on top keep the
 * batches of any 15 minutes under 100, far from the 300 markers that may stand in the spreadsheet.
 */
export function batchBucket(quota: Quota): TokenBucket {
  return {
    capacity: Math.max(1, Math.min(15, Math.floor(quota.perDay / 10))),
    refillMs: Math.max(12_000, day / (quota.perDay * 0.8)),
  }
}

export function refilled(tokens: Tokens, bucket: TokenBucket, now: Millis): Tokens {
  const gained = Math.max(0, now - tokens.at) / bucket.refillMs
  return { count: Math.min(bucket.capacity, tokens.count + gained), at: Math.max(tokens.at, now) }
}

/** Milliseconds until the bucket holds a whole token. */
export function waitForToken(tokens: Tokens, bucket: TokenBucket, now: Millis): Millis {
  return Math.max(0, (1 - refilled(tokens, bucket, now).count) * bucket.refillMs)
}
