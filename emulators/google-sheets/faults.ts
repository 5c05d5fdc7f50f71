import { FaultPlan, type PlannedFault } from '../fault-plan.ts'
import type { Answer } from './answer.ts'
import type { FaultAnswer } from './fault-answers.ts'
import type { CallKind } from './route.ts'

/**
 * What goes wrong with a call: whether and when it is applied, and what the client sees of it.
 * Every combination of the two is possible, which makes the fault matrix of a test.
 */
export interface Fault extends PlannedFault {
  /** The calls that it meets; all when left out. `read` and `write` are calls of the Sheets API. */
  readonly on?: CallKind | 'read' | 'write' | 'any' | readonly CallKind[]
  readonly spreadsheetId?: string
  /**
   * `now` and `never` speak for themselves. `later`: after `applyAfterMs`, or when
   * `releaseLate()` is called. `twice`: the same request is delivered two times. Default `never`,
   * but `now` when nothing is set but `delayMs`.
   */
  readonly apply?: 'never' | 'now' | 'later' | 'twice'
  readonly applyAfterMs?: number
  /**
   * `real`: the true answer. `drop`: the connection is closed without one. `truncated`: the real
   * answer, cut in the middle. `cutOff`: the connection is closed in the middle of the real answer.
   * Default `unavailable` when the call is not applied at once, else `real`.
   */
  readonly answer?: 'real' | 'drop' | 'truncated' | 'cutOff' | FaultAnswer | Partial<Answer>
  /** Which answer the client sees of a request that is applied `twice`. Default `first`. */
  readonly answerOf?: 'first' | 'second'
  /** How long the answer is held back, in milliseconds. */
  readonly delayMs?: number
}

export interface FaultTarget {
  readonly kind: CallKind
  readonly access?: 'read' | 'write' | undefined
  readonly spreadsheetId?: string | undefined
}

/** The faults of Google that are still to come; `random` decides those with a `probability`. */
export function planFaults(random: () => number): FaultPlan<Fault, FaultTarget> {
  return new FaultPlan(matches, random)
}

/** What becomes of the call when the fault does not say it. */
export function applyOf({ apply, answer, delayMs }: Fault): NonNullable<Fault['apply']> {
  const onlyDelayed = delayMs !== undefined && answer === undefined
  return apply ?? (onlyDelayed ? 'now' : 'never')
}

function matches({ on = 'any', spreadsheetId }: Fault, target: FaultTarget): boolean {
  if (spreadsheetId !== undefined && spreadsheetId !== target.spreadsheetId) return false
  if (on === 'any') return true
  if (on === 'read' || on === 'write') return target.access === on
  return typeof on === 'string' ? on === target.kind : on.includes(target.kind)
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
