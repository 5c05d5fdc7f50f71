import type { Clock } from '../platform/clock.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'

/** Why a request was not answered as asked. */
export interface Refused {
  readonly kind: string
  readonly status: number
}

/** What an operator is asked about by people who could not sign up. */
const toldStatuses: ReadonlySet<number> = new Set([403, 429])
/** Nobody may fill the disk by being refused. */
const toldPerMinute = 60
const originsTold = 20

/** Whether something is told for the first time, of at most so many different ones. */
function firstOf(most: number): (name: string) => boolean {
  const told = new Set<string>()
  return (name) => !told.has(name) && told.size < most && told.add(name).size > 0
}

/** Each refused request by its id, at debug; those that people ask about at info, within bounds. */
export function refusalEvents(log: Logger, health: Health, clock: Clock) {
  const isNewOrigin = firstOf(originsTold)
  const isNewRedirect = firstOf(originsTold)
  let minuteEnds = -Infinity
  let told = 0
  let leftOut = 0

  return {
    requestRefused({ kind, status }: Refused, requestId: string): void {
      const line = { requestId, status, kind }
      const message = 'a request was refused'
      if (!toldStatuses.has(status)) return log.debug(line, message)
      const now = clock.elapsed()
      if (now >= minuteEnds) {
        if (leftOut > 0) log.info({ leftOut }, 'more requests were refused, and told at debug only')
        minuteEnds = now + 60_000
        told = leftOut = 0
      }
      if (told++ < toldPerMinute) return log.info(line, message)
      leftOut++
      log.debug(line, message)
    },
    requestFailed(error: unknown, requestId: string): void {
      log.error({ requestId, err: error }, 'a request failed in a way that nobody foresaw')
    },
    apiKeyRefused(): void {
      if (health.refusedApiKeys++ > 0) return
      const hint =
        'If it is from a program of yours, compare its key with API_KEYS; /api/ready counts such requests.'
      log.warn({ hint }, 'a request came with an API key that is none of ours')
    },
    originRefused(origin: string | undefined, requestId: string): void {
      health.refusedByOrigin++
      const name = origin ?? 'none'
      if (!isNewOrigin(name)) return
      const hint = origin
        ? 'If these are your pages, add the origin to ALLOWED_ORIGINS.'
        : 'Only ALLOWED_ORIGINS=* takes signups of sandboxed frames and local files.'
      log.warn(
        { requestId, origin: name, hint },
        'pages of an origin that is not allowed ask for signups',
      )
    },
    redirectNotFollowed(origin: string, requestId: string): void {
      const hint = 'Name the origin in ALLOWED_ORIGINS, when its pages may follow a signup.'
      const level = isNewRedirect(origin) ? 'warn' : 'debug'
      log[level]({ requestId, origin, hint }, 'the redirect of a form was not followed')
    },
  }
}
