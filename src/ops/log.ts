import pino, { type Logger } from 'pino'

export type { Logger }

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** JSON lines on standard error; standard output is for people. */
export function createLog(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2))
}
