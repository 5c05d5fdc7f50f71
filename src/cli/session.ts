import type { Readable } from 'node:stream'
import type { Clock } from '../platform/clock.ts'
import type { Notes } from './terminal/notes.ts'
import type { Output } from './terminal/output.ts'

/** What a program gets from who runs it. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly env: NodeJS.ProcessEnv
}

/** What every command works with. */
export interface Session extends Pick<Surroundings, 'stdin' | 'env'> {
  /** Standard output: what the person asked for. */
  readonly out: Output
  /** Standard error: everything else. Nothing personal. */
  readonly notes: Notes
  /** Aborts with the first SIGINT or SIGTERM. The command ends as soon as it leaves nothing half-written. */
  readonly stop: AbortSignal
  readonly clock: Clock
}

/** Arguments that do not fit together. The message says which, and what to give instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
