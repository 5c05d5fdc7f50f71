import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

/** A request that was answered. No visitor has chosen anything of it. */
export interface AnsweredRequest {
  /** The path with the names of its parameters; undefined when there is no such path. */
  readonly route: string | undefined
  /** Undefined when the request was no valid HTTP. */
  readonly method: string | undefined
  readonly status: number
  /** From the end of the request's headers until its answer was ready to be sent. */
  readonly ms: number
  readonly requestId: string
}

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
