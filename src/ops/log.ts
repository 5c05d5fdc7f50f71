import pino, { type Logger } from 'pino'

export type { Logger }

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/**
 * JSON lines on standard error; standard output is for people. Every line about a request carries
 * its id.
 *
 * @param requestId the request in which the caller runs, if it does
 */
export function createLog(
  level: LogLevel,
  requestId: () => string | undefined = () => undefined,
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin() {
        const id = requestId()
        return id === undefined ? {} : { requestId: id }
      },
    },
    pino.destination(2),
  )
}
