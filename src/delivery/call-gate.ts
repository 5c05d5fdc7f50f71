import type { Journal } from '../journal/journal.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import { callMemoryMs, type Quota, waitBeforeCall } from './pace.ts'

/**
 * Lets calls to the provider pass so that no window of the quota is exceeded, across restarts too:
 * each call is noted in the journal before it is made.
 *
 * Its clock begins at the wall clock, but never before the last call of the ledger, and goes on by
 * elapsed time, so that a wall clock that jumps can neither open the gate early nor shut it for long.
 */
export async function openCallGate(
  journal: Journal,
  quota: Quota,
  clock: Clock,
): Promise<CallGate> {
  const wall = clock.now()
  const calls: Millis[] = [...(await journal.callsSince(wall - callMemoryMs))]
  const start = Math.max(wall, calls.at(-1) ?? 0)
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
