import { FaultPlan, type PlannedFault } from '../fault-plan.ts'
import type { Answer } from './answer.ts'
import type { FaultAnswer } from './fault-answers.ts'
import type { CallKind } from './route.ts'

/**
 * Says whether and when a call is applied, and what the client sees. A test can combine the two in any
 * way.
 */
export interface Fault extends PlannedFault {
  /** The calls that it meets, by default all. `read` and `write` are calls of the Sheets API. */
  readonly on?: CallKind | 'read' | 'write' | 'any' | readonly CallKind[]
  readonly spreadsheetId?: string
  /**
   * `later` applies it after `applyAfterMs`, or when `releaseLate()` is called. `twice` applies it two
   * times. Default `never`, but `now` when only `delayMs` is set.
   */
  readonly apply?: 'never' | 'now' | 'later' | 'twice'
  readonly applyAfterMs?: number
  /**
   * `real`: the true answer. `drop`: the connection is closed without one. `truncated`: the real
   * answer, cut in the middle. `cutOff`: the connection is closed in the middle of the real answer.
   * Default `unavailable` when the call is not applied at once, else `real`.
   */
  readonly answer?: 'real' | 'drop' | 'truncated' | 'cutOff' | FaultAnswer | Partial<Answer>
  /** Which answer the client sees when the call is applied `twice`. Default `first`. */
  readonly answerOf?: 'first' | 'second'
  /** The delay of the answer in milliseconds. */
  readonly delayMs?: number
}

export interface FaultTarget {
  readonly kind: CallKind
  readonly access?: 'read' | 'write' | undefined
  readonly spreadsheetId?: string | undefined
}

/** An empty plan of faults. `random` decides those with a `probability`. */
export function planFaults(random: () => number): FaultPlan<Fault, FaultTarget> {
  return new FaultPlan(matches, random)
}

/** Whether and when a fault applies the call, with the defaults. */
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

/** Makes random numbers from 0 to under 1 that are the same for the same seed (mulberry32). */
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
