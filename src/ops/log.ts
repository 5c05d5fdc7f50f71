import pino, { type DestinationStream, type Logger } from 'pino'

export type { Logger }

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** JSON lines, on standard error unless another stream is given; standard output is for people. */
export function createLog(level: LogLevel, stream: DestinationStream = standardError()): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream)
}

/** What waits to be printed; beyond that, lines are dropped. */
const waitingBytesMax = 1024 * 1024

/** Nobody may read it any more, or the disk of its file be full: the service itself goes on. */
function standardError() {
  const stream = pino.destination({ dest: 2, maxLength: waitingBytesMax })
  // At the end of the process, it would try for ever to write what it could not.
  const flush = stream.flushSync.bind(stream)
  let isFailing = false
  stream.on('error', () => (isFailing = true))
  stream.on('write', () => (isFailing = false))
  stream.flushSync = () => {
    if (!isFailing) flush()
  }
  return stream
}
