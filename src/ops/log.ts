import pino, { type DestinationStream, type Logger } from 'pino'

export type { Logger }

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** Logs JSON lines to standard error, or to the given stream. Standard output is for people. */
export function createLog(level: LogLevel, stream: DestinationStream = standardError()): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream)
}

/** The most bytes that wait to be written. Further lines are dropped. */
const waitingBytesMax = 1024 * 1024

/** Standard error without failures: the service goes on after a closed pipe or a full disk. */
function standardError() {
  const stream = pino.destination({ dest: 2, maxLength: waitingBytesMax })
  // At the end of the process, a failing stream would retry the last write for ever.
  const flush = stream.flushSync.bind(stream)
  let isFailing = false
  stream.on('error', () => (isFailing = true))
  stream.on('write', () => (isFailing = false))
  stream.flushSync = () => {
    if (!isFailing) flush()
  }
  return stream
}
