import type { AnsweredRequest } from '../platform/http-exchange.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

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

/** Logs what somebody does by the admin page, and not to whom. */
export function adminEvents(log: Logger) {
  return {
    /** @param by the login, the address of the client, and the request */
    adminActed(
      action: string,
      by: { readonly login: string | undefined; readonly from: string; readonly requestId: string },
    ): void {
      const { login, from, requestId } = by
      log.info({ action, login, from, requestId }, 'somebody used the admin page')
    },
    /** Something in the background that the page has begun. */
    workFailed(error: unknown): void {
      log.error({ err: error }, 'work of the admin page failed')
    },
  }
}
