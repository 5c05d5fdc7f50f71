import type { Answer } from './answer.ts'
import type { FaultAnswer } from './fault-answers.ts'
import type { CallKind } from './route.ts'

/**
 * What goes wrong with a call: whether and when it is applied, and what the client sees of it.
 * Every combination of the two is possible, which makes the fault matrix of a test.
 */
export interface Fault {
  /** The calls that it meets; all when left out. `read` and `write` are calls of the Sheets API. */
  readonly on?: CallKind | 'read' | 'write' | 'any' | readonly CallKind[]
  readonly spreadsheetId?: string
  /** How many such calls pass unharmed first. Default 0. */
  readonly skip?: number
  /** How many calls it meets; 0 means every one until it is cleared. Default 1. */
  readonly times?: number
  /** Chance of meeting a call that it could meet, from the emulator's seeded numbers. Default 1. */
  readonly probability?: number
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

interface Planned {
  readonly fault: Fault
  skipLeft: number
  /** `Infinity` for a fault without an end. */
  timesLeft: number
}

/** The faults that are still to come, in the order in which they were added. */
export class FaultPlan {
  #planned: Planned[] = []
  readonly #random: () => number

  constructor(random: () => number = Math.random) {
    this.#random = random
  }

  add(...faults: readonly Fault[]): void {
    for (const fault of faults) {
      const timesLeft = fault.times === 0 ? Infinity : (fault.times ?? 1)
      this.#planned.push({ fault, skipLeft: fault.skip ?? 0, timesLeft })
    }
  }

  clear(): void {
    this.#planned = []
  }

  /** Faults that have not met all their calls yet. */
  get pending(): readonly Fault[] {
    return this.#planned.map(({ fault }) => fault)
  }

  /** The fault that meets this call, if any; it is used up by one. */
  take(target: FaultTarget): Fault | undefined {
    for (const planned of this.#planned) {
      if (!matches(planned.fault, target)) continue
      if (planned.skipLeft > 0) {
        planned.skipLeft -= 1
        continue
      }
      const { probability } = planned.fault
      if (probability !== undefined && this.#random() >= probability) continue
      planned.timesLeft -= 1
      if (planned.timesLeft === 0) {
        this.#planned = this.#planned.filter((other) => other !== planned)
      }
      return planned.fault
    }
    return undefined
  }
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
