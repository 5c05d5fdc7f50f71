import { environmentNames, type SettingNames } from '../signup/setting-names.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import type { ToldLines } from './told-lines.ts'

/** A refused request: the reason and the status of the answer. */
export interface RefusedRequest {
  readonly kind: string
  readonly status: number
}

/** The statuses that people who could not sign up ask the operator about. */
const toldStatuses: ReadonlySet<number> = new Set([403, 429])
const originsTold = 20

/** Returns a function that is true for the first use of each name, for at most `most` names. */
function firstOf(most: number): (name: string) => boolean {
  const told = new Set<string>()
  return (name) => !told.has(name) && told.size < most && told.add(name).size > 0
}

/** Logs each refused request at debug level, and a bounded number of those that people ask about at info. */
export function refusalEvents(
  log: Logger,
  health: Health,
  lines: ToldLines,
  { origins }: Pick<SettingNames, 'origins'> = environmentNames,
) {
  const isNewOrigin = firstOf(originsTold)
  const isNewRedirect = firstOf(originsTold)

  return {
    requestRefused({ kind, status }: RefusedRequest, requestId: string): void {
      const line = { requestId, status, kind }
      const message = 'a request was refused'
      const isTold = toldStatuses.has(status) && lines.takes(log)
      log[isTold ? 'info' : 'debug'](line, message)
    },
    requestFailed(error: unknown, requestId: string): void {
      log.error({ requestId, err: error }, 'a request failed unexpectedly')
    },
    apiKeyRefused(): void {
      if (health.refusedApiKeys++ > 0) return
      const hint =
        'If the request is from your own program, compare its key with API_KEYS. /api/ready counts such requests.'
      log.warn({ hint }, 'a request came with an unknown API key')
    },
    originRefused(origin: string | undefined, requestId: string): void {
      health.refusedByOrigin++
      const name = origin ?? 'none'
      if (!isNewOrigin(name)) return
      const hint = origin
        ? `If these are your pages, add the origin to ${origins}.`
        : `Only * in ${origins} allows signups from sandboxed frames and local files.`
      log.warn(
        { requestId, origin: name, hint },
        'a page of an origin that is not allowed asked for a signup',
      )
    },
    redirectNotFollowed(origin: string, requestId: string): void {
      const hint = `If forms may send visitors to this origin, add it to ${origins}.`
      const level = isNewRedirect(origin) ? 'warn' : 'debug'
      log[level]({ requestId, origin, hint }, 'the redirect of a form was not followed')
    },
  }
}
