import type { Quota } from '../journal/call-ledger.ts'
import type { Millis } from '../signup/signup.ts'

const minute = 60 * 1000
const day = 24 * 60 * minute

/** Settings of a token bucket: it holds at most `capacity` tokens and gains one every `refillMs`. */
export interface TokenBucket {
  readonly capacity: number
  readonly refillMs: Millis
}

/** The bucket of a provider without a quota. */
export const bottomless: TokenBucket = { capacity: Infinity, refillMs: 1 }

/** How many tokens a bucket held, and when. */
export interface Tokens {
  readonly count: number
  readonly at: Millis
}

/**
 * How often a batch may be sent that is not full. The first batches of a busy time go at once, about one
 * a second. Later ones are fewer and larger, so that a whole day of them takes four fifths of the day's
 * calls and leaves the rest for reads, confirmations and pruning.
 *
 * Full batches take no token: 286 of them fill a spreadsheet, so they cannot use up a day's calls.
 */
export function batchBucket(quota: Quota): TokenBucket {
  return {
    capacity: Math.max(1, Math.min(15, Math.floor(quota.perDay / 10))),
    refillMs: Math.max(12_000, day / (quota.perDay * 0.8)),
  }
}

/** The tokens that are left when a batch takes one. */
export function taken(tokens: Tokens, bucket: TokenBucket, now: Millis): Tokens {
  const { count, at } = refilled(tokens, bucket, now)
  return { count: count - 1, at }
}

function refilled(tokens: Tokens, bucket: TokenBucket, now: Millis): Tokens {
  const gained = Math.max(0, now - tokens.at) / bucket.refillMs
  return { count: Math.min(bucket.capacity, tokens.count + gained), at: Math.max(tokens.at, now) }
}

/** Milliseconds until the bucket holds a whole token. */
export function waitForToken(tokens: Tokens, bucket: TokenBucket, now: Millis): Millis {
  return Math.max(0, (1 - refilled(tokens, bucket, now).count) * bucket.refillMs)
}
