import { isatty } from 'node:tty'
import pino, { type DestinationStream, type Logger } from 'pino'

import { textLine } from './text-line.ts'

export type { Logger }

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** Logs to standard error, or JSON lines to the given stream. */
export function createLog(level: LogLevel, stream: DestinationStream = standardError()): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream)
}

/** The most bytes that wait to be written. Further lines are dropped. */
const waitingBytesMax = 1024 * 1024

export interface LogLook {
  /** Undefined: text on a terminal, and JSON elsewhere. */
  readonly logFormat?: 'text' | 'json' | undefined
  /** Whether text on a terminal may have colours. */
  readonly logColours?: boolean
}

/** Standard error without failures: the service goes on after a closed pipe or a full disk. */
export function standardError({ logFormat, logColours = true }: LogLook = {}): DestinationStream {
  const stream = failureless()
  const isTerminal = isatty(2)
  if ((logFormat ?? (isTerminal ? 'text' : 'json')) === 'json') return stream
  return { write: (line) => void stream.write(textLine(line, isTerminal && logColours)) }
}

function failureless() {
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
