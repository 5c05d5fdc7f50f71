import type { Clock } from '../../platform/clock.ts'
import { digits } from '../../platform/digits.ts'
import type { HttpClient } from '../../platform/http-client.ts'
import type { Millis } from '../../signup/signup.ts'
import { type Finding, findingsOf } from '../../platform/finding.ts'

/** Google takes an assertion from a clock that is up to five minutes ahead. */
const offMaxMs = 60_000

/**
 * The same client, and the difference between our clock and the `Date` of Google's first answer: from where tokens
 * are asked for by POST, or from the Sheets API. What is read while signing in may have the clock of this machine: a
 * metadata server, or another cloud's proof of who we are.
 */
export function watchDate(
  http: HttpClient,
  apiUrl: string,
  clock: Pick<Clock, 'now'>,
): { readonly http: HttpClient; offMs(): Millis | undefined } {
  let offMs: Millis | undefined
  return {
    offMs: () => offMs,
    async http(request) {
      const askedAt = clock.now()
      const answer = await http(request)
      const date = Date.parse(answer.headers.get('date') ?? '')
      // The answer was made at some time between these two.
      const ours = (askedAt + clock.now()) / 2
      const isGoogle = request.method === 'POST' || request.url.startsWith(`${apiUrl}/v4/`)
      if (isGoogle && !Number.isNaN(date)) offMs ??= ours - date
      return answer
    },
  }
}

/** @param offMs how far our clock is ahead of Google's */
export function clockFinding(offMs: Millis | undefined): Finding {
  const { ok, fault, skipped } = findingsOf('clock')
  if (offMs === undefined) return skipped('not checked: Google did not tell the time')
  if (Math.abs(offMs) <= offMaxMs) return ok("agrees with Google's within a minute")
  return fault(
    `is ${minutes(Math.abs(offMs))} ${offMs > 0 ? 'ahead of' : 'behind'} Google's: the times of ` +
      'signups are wrong, and Google may give no access token',
    'Switch on the synchronisation of time on this machine: timedatectl set-ntp true.',
  )
}

function minutes(ms: Millis): string {
  const count = Math.round(ms / 60_000)
  return count === 1 ? '1 minute' : `${digits(count)} minutes`
}
