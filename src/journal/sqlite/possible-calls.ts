import type { Millis } from '../../signup/signup.ts'
import type { Quota } from '../contracts/call-ledger.ts'

/** The ledger's windows are a second longer than a minute and a day. */
const minute = 61 * 1000
const day = 24 * 60 * 60 * 1000 + 1000

/**
 * The times of all calls that an account may have made: those that a backup knows, and as many as the
 * quota allowed since then, as late as possible. So the windows are as full as they can be.
 *
 * @param known the calls that the backup has, ascending
 * @param backupAt a time at which the backup was not yet made
 */
export function possibleCalls(
  known: readonly Millis[],
  backupAt: Millis,
  now: Millis,
  { perMinute, perDay }: Quota,
): readonly Millis[] {
  // A clock that was set back shows nothing.
  const since = backupAt > now ? now - day : Math.max(backupAt, now - day)
  const possible: Millis[] = []
  for (let at = now; possible.length < perDay && at > since - minute; at -= minute) {
    const count = Math.min(perMinute, perDay - possible.length)
    possible.push(...Array.from({ length: count }, () => Math.ceil(at)))
  }
  const earlier = known.filter((at) => at <= since)
  return [...earlier, ...possible].sort((one, other) => one - other)
}
