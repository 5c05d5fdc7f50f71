import type { Clock } from '../platform/clock.ts'
import type { AnsweredRequest } from '../platform/http-exchange.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import { ToldLines } from './refusal-events.ts'

/** What stands for every unknown path, and for every method that no path takes. */
const other = 'other'
const methods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** Logs each request at level debug. There is no event when neither the log nor the metrics want it. */
export function requestEvents(log: Logger, metrics: Metrics | undefined) {
  const isLogged = log.isLevelEnabled('debug')
  if (!isLogged && !metrics) return {}
  return {
    requestAnswered({ route = other, method, status, ms, requestId }: AnsweredRequest): void {
      const known = methods.has(method) && method !== undefined ? method : other
      metrics?.requestAnswered(route, known, status, ms)
      if (!isLogged) return
      const line = { requestId, method: known, route, status, ms: Math.round(ms * 10) / 10 }
      log.debug(line, 'a request was answered')
    },
  }
}

interface AdminRequest {
  readonly login?: string
  /** Undefined when there is only one. */
  readonly site?: string | undefined
  /** The address of the client. */
  readonly from: string
  readonly requestId: string
}

/** Logs what somebody does by the admin page, and not to whom. */
export function adminEvents(log: Logger, clock: Pick<Clock, 'elapsed'>) {
  const refusals = new ToldLines(clock, 'tries to sign in were refused')
  return {
    adminActed(action: string, { login, site, from, requestId }: AdminRequest): void {
      log.info({ action, login, site, from, requestId }, 'somebody used the admin page')
    },
    /** Somebody sent a wrong token. */
    signInRefused({ from, requestId }: AdminRequest): void {
      const level = refusals.takes(log) ? 'info' : 'debug'
      log[level]({ from, requestId }, 'the admin page refused a wrong token')
    },
    /** Something in the background that the page has begun. */
    workFailed(error: unknown): void {
      log.error({ err: error }, 'work of the admin page failed')
    },
  }
}
