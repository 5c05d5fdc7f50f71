import type { CallLedger } from '../journal/call-ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import { type Quota, waitBeforeCall } from './pace.ts'

/**
 * Lets calls to the provider pass so that no window of the quota is exceeded, across restarts too:
 * each call is noted in the journal before it is made.
 *
 * Its clock begins at the wall clock, but never before the last call of the ledger, and goes on by
 * elapsed time, so that a wall clock that jumps while we run changes nothing. While we are down there
 * is only the wall clock to tell how long that was:
 *
 * - for the minute it is not believed: the latest calls count as if the last had been made just now;
 * - for the day it is. Set back, it makes the wait longer, never shorter, and at most a day. Set ahead
 *   by some time between two starts, it makes calls look older by that time. (So it does for the
 *   minute when the process starts a second time in the minute after that.)
 */
export async function openCallGate(
  journal: CallLedger,
  quota: Quota,
  clock: Clock,
): Promise<CallGate> {
  const wall = clock.now()
  // All that the journal keeps, which is little more than a day.
  const ledger = await journal.callsSince(0)
  const last = ledger.at(-1) ?? wall
  const start = Math.max(wall, last)
  const calls: Millis[] = [
    ...ledger.slice(0, -quota.perMinute),
    ...ledger.slice(-quota.perMinute).map((at) => at + start - last),
  ]
  const startElapsed = clock.elapsed()
  const now = () => start + clock.elapsed() - startElapsed
  return async (signal) => {
    for (let wait = waitBeforeCall(calls, quota, now()); wait > 0;) {
      await clock.sleep(wait, signal)
      signal.throwIfAborted()
      wait = waitBeforeCall(calls, quota, now())
    }
    const at = Math.ceil(now())
    await journal.recordCall(at)
    calls.push(at)
    while (calls.length > quota.perDay) calls.shift()
  }
}
