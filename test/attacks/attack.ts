import type { RunningService } from '../../harness/start-service.ts'

/** `small` takes a few seconds and runs in `npm test`. `full` sends as much as an attacker would. */
export type Size = 'small' | 'full'

/** Counts of what was sent and what came back. Their names are for people: `connections reset`. */
export type Counts = Readonly<Record<string, number>>

/** The attacked process, which `measuredProgram` has started. */
export type Target = Pick<RunningService, 'url' | 'pid' | 'output'>

/** One way to harm the service. Each attack has a fresh process. */
export interface Attack {
  /** The name in kebab-case, for `--only`. */
  readonly name: string
  /** Describes the attack in a short sentence. */
  readonly what: string
  /** Settings of the service. Servers that they need are added to `started` and end with the attack. */
  settings?(started: AsyncDisposableStack): Promise<Readonly<Record<string, string>>>
  /** The most memory that the process may take during the attack, in bytes. Default 300 MiB. */
  readonly peakBytesMax?: number
  /**
   * Attacks, and resolves when all requests have ended. Rejects when an answer is wrong. `carryOut`
   * checks what every attack must leave unharmed.
   */
  run(target: Target, size: Size): Promise<Counts>
}
