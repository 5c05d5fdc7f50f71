import type { RunningService } from '../harness/start-service.ts'

/** `small` takes a few seconds and is part of `npm test`; `full` is what an attacker would send. */
export type Size = 'small' | 'full'

/** What was sent and what came back, by name. Names are words for people: `connections reset`. */
export type Counts = Readonly<Record<string, number>>

/** The process that is attacked, started by `measuredProgram`. */
export type Target = Pick<RunningService, 'url' | 'pid' | 'output'>

/** One way to harm the service. Each has a fresh process of its own. */
export interface Attack {
  /** By which it is selected: kebab-case. */
  readonly name: string
  /** One short sentence. */
  readonly what: string
  /** Settings of the service; what it starts for them goes into `started` and ends with the attack. */
  settings?(started: AsyncDisposableStack): Promise<Readonly<Record<string, string>>>
  /** The most memory that the process may take meanwhile, in bytes; absent: 300 MiB. */
  readonly peakBytesMax?: number
  /**
   * Sends it, and resolves when all of it is over. Rejects when an answer is not what it should be; what
   * holds for every attack is looked at by `carryOut`.
   */
  run(target: Target, size: Size): Promise<Counts>
}
