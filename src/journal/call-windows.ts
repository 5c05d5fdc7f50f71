import type { Millis } from '../signup/signup.ts'
import type { Quota } from './call-ledger.ts'

const minute = 60 * 1000
const day = 24 * 60 * minute

/**
 * The provider counts a call when it arrives, we count it when it leaves. A window that is this much
 * longer than the provider's keeps two calls that travelled for different times in different windows.
 */
const travelMs = 1000

/**
 * Milliseconds until one more call fits into both windows; 0 when it fits now.
 *
 * @param calls when calls were made, ascending, at least those of the last day and a second.
 */
export function waitBeforeCall(calls: readonly Millis[], quota: Quota, now: Millis): Millis {
  return Math.max(
    waitForWindow(calls, quota.perMinute, minute + travelMs, now),
    waitForWindow(calls, quota.perDay, day + travelMs, now),
  )
}

function waitForWindow(calls: readonly Millis[], max: number, length: Millis, now: Millis): Millis {
  const oldest = calls.at(-max)
  return oldest === undefined ? 0 : Math.max(0, oldest + length - now)
}
