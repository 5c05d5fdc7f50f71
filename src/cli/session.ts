import type { Clock } from '../platform/clock.ts'
import type { Notes } from './terminal/notes.ts'
import type { Output } from './terminal/output.ts'

export const exit = {
  /** All is done, and all is well. */
  done: 0,
  /** Not all is well, or not all was done. */
  notAll: 1,
  /** Wrong arguments or settings. */
  badUse: 2,
} as const

export type ExitCode = (typeof exit)[keyof typeof exit]

export interface Session {
  /** Standard output: what the person asked for. */
  readonly out: Output
  /** Standard error: everything else. Nothing personal. */
  readonly notes: Notes
  /** Aborts with the first SIGINT or SIGTERM. The command ends as soon as it leaves nothing half-written. */
  readonly stop: AbortSignal
  readonly clock: Clock
}

/** Runs a command's work and notes its exit code. Reports what the work throws, in one line. */
export type Run = (work: (session: Session) => Promise<ExitCode>) => Promise<void>

/** Arguments that do not fit together. The message says which, and what to give instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
