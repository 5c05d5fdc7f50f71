import type { Millis } from '../signup/signup.ts'
import type { Quota } from './contracts/call-ledger.ts'

const minute = 60 * 1000
const day = 24 * 60 * minute

/**
 * The provider counts a call when it arrives, and we count it when we send it. Our windows are longer
 * than the provider's by this, so that a slow call and a fast one after it do not arrive in one window.
 */
const travelMs = 1000

/**
 * Returns the milliseconds until one more call fits into both windows; 0 when it fits now.
 *
 * @param calls the times of the calls, ascending; at least those of the last day and a second
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
