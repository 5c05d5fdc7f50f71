import type { Clock } from '../platform/clock.ts'
import { environmentNames, type SettingNames } from '../platform/setting-names.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'

/** The statuses that people who could not sign up ask the operator about. */
const toldStatuses: ReadonlySet<number> = new Set([403, 429])
const originsTold = 20
const linesPerMinute = 60

/** Limits the log lines of one kind of all sites together, so that they cannot fill the disk. */
export class ToldLines {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #what: string
  #minuteEnds = -Infinity
  #told = 0
  #leftOut = 0

  constructor(clock: Pick<Clock, 'elapsed'>, what = 'requests were refused') {
    this.#clock = clock
    this.#what = what
  }

  /** Whether one more line may be told. The log first tells how many were left out a minute ago. */
  takes(log: Logger): boolean {
    const now = this.#clock.elapsed()
    if (now >= this.#minuteEnds) {
      if (this.#leftOut > 0) {
        log.info({ leftOut: this.#leftOut }, `more ${this.#what} and logged at debug only`)
      }
      this.#minuteEnds = now + 60_000
      this.#told = this.#leftOut = 0
    }
    if (this.#told++ < linesPerMinute) return true
    this.#leftOut++
    return false
  }
}

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
  { ALLOWED_ORIGINS: origins }: Pick<SettingNames, 'ALLOWED_ORIGINS'> = environmentNames,
) {
  const isNewOrigin = firstOf(originsTold)
  const isNewRedirect = firstOf(originsTold)

  return {
    requestRefused(refused: { kind: string; status: number }, requestId: string): void {
      const { kind, status } = refused
      const isTold = toldStatuses.has(status) && lines.takes(log)
      log[isTold ? 'info' : 'debug']({ requestId, status, kind }, 'a request was refused')
    },
    /** A handler threw an error that is not a refusal. */
    requestFailed(error: unknown, requestId: string): void {
      log.error({ requestId, err: error }, 'a request failed unexpectedly')
    },
    /** A request came with an unknown API key. Logged once, counted each time. */
    apiKeyRefused(): void {
      if (health.refusedApiKeys++ > 0) return
      const hint =
        'If the request is from your own program, compare its key with API_KEYS. /api/ready counts such requests.'
      log.warn({ hint }, 'a request came with an unknown API key')
    },
    /** A page of an origin that is not allowed asked for a signup. Logged once for each origin. */
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
    /** A form's `redirect` is not allowed, so the visitor got the thank-you page. Logged once for each origin. */
    redirectNotFollowed(origin: string, requestId: string): void {
      const hint = `If forms may send visitors to this origin, add it to ${origins}.`
      const level = isNewRedirect(origin) ? 'warn' : 'debug'
      log[level]({ requestId, origin, hint }, 'the redirect of a form was not followed')
    },
  }
}
