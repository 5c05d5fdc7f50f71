import { FaultPlan, type PlannedFault } from '../fault-plan.ts'

/**
 * Where in the dialogue a fault strikes.
 *
 * - `connect`: before the greeting.
 * - `ehlo`, `auth`, `mail`, `rcpt`: instead of the answer to this command.
 * - `data`: instead of the answer to the message, which is not kept. A cut comes when it begins.
 * - `answer`: instead of the answer to the message, which is kept.
 */
export type Stage = 'connect' | 'ehlo' | 'auth' | 'mail' | 'rcpt' | 'data' | 'answer'

/** Says what the server does at a stage, instead of what it would do. */
export interface Fault extends PlannedFault {
  readonly stage: Stage
  /** Of `rcpt`: the only recipient that it meets. */
  readonly address?: string
  /** An answer of 4xx or 5xx. */
  readonly code?: number
  /** What the answer says, beside its code. */
  readonly text?: string
  /** The connection is cut without an answer. */
  readonly cut?: boolean
  /** The delay in milliseconds of what it does, or of the true answer. */
  readonly delayMs?: number
}

interface Target {
  readonly stage: Stage
  readonly address?: string | undefined
}

/** An empty plan of faults. */
export function planFaults(): FaultPlan<Fault, Target> {
  return new FaultPlan(
    ({ stage, address }, target) =>
      stage === target.stage && (address === undefined || address === target.address),
  )
}
