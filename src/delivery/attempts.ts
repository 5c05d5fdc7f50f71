import type { Events } from '../ops/events.ts'
import { type Clock, minute, type Random } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { Failed, Refused, Retryable } from '../spreadsheet/spreadsheet.ts'
import { backoffMs, blockedRetryMs } from '../spreadsheet/backoff.ts'

/** For one try, with its wait for the quota. Much shorter than a marker's life, which may run already. */
export const tryMaxMs = 5 * minute

export interface AttemptsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly events: Events
  /** Aborts to end every wait and to prevent further tries. */
  readonly stopping: AbortSignal
  /** Aborts to give up the current try. */
  readonly giveUp: AbortSignal
}

/** Since when something is blocked, and how often it was tried since. */
export interface Blocked {
  readonly since: Millis
  readonly tries: number
}

/** Counts one more try that failed now. `waitMs` is the time to wait before the next. */
export function blockedAgain(before: Blocked | undefined, now: Millis) {
  const { since, tries } = before ?? { since: now, tries: 0 }
  return { since, tries: tries + 1, waitMs: blockedRetryMs(tries + 1, now - since) }
}

/** Repeats calls: BACKING OFF after a failure that may pass, BLOCKED until a person acts. */
export class Attempts {
  readonly #options: AttemptsOptions
  #blocked: Blocked | undefined
  #isDelayed = false

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /** Makes a call until it does not fail; undefined on stop. A try is given up after `tryMaxMs`. */
  async persist<T extends { readonly kind: string }>(
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<Exclude<T, Failed> | undefined> {
    const { stopping } = this.#options
    for (let failures = 1; !stopping.aborted; failures++) {
      const result: T | Failed = await inTime(call, this.#options)
      if (!isFailure(result)) {
        this.resume()
        return result as Exclude<T, Failed>
      }
      if (result.kind === 'refused') {
        failures = 0
        await this.#block(result)
      } else {
        await this.backOff(failures, result)
      }
    }
    return undefined
  }

  /** Call when delivery works again. Reports it if delivery was delayed or blocked. */
  resume(): void {
    if (this.#blocked || this.#isDelayed) this.#options.events.deliveryResumed()
    this.#blocked = undefined
    this.#isDelayed = false
  }

  /** Waits before the next try, the longer the more tries have failed in a row. */
  async backOff(
    failures: number,
    { message, afterMs }: Pick<Retryable, 'message' | 'afterMs'>,
  ): Promise<void> {
    await this.delay(message, backoffMs(failures, afterMs, this.#options.random))
  }

  /** Reports the reason and waits. Delivery counts as delayed until `resume`. */
  async delay(message: string, ms: Millis): Promise<void> {
    this.#isDelayed = true
    this.#options.events.deliveryDelayed(message, ms)
    await this.rest(ms)
  }

  /** Waits; a stop ends it early. */
  async rest(ms: Millis): Promise<void> {
    const { clock, stopping } = this.#options
    if (ms > 0) await clock.sleep(ms, stopping)
  }

  async #block(refused: Refused): Promise<void> {
    const { clock, events } = this.#options
    const blocked = blockedAgain(this.#blocked, clock.elapsed())
    this.#blocked = blocked
    events.deliveryBlocked(refused)
    await this.rest(blocked.waitMs)
  }
}

/** Makes a call with a signal that gives it up when it takes longer than `tryMaxMs`. */
async function inTime<T>(
  call: (signal: AbortSignal) => Promise<T>,
  { clock, giveUp }: Pick<AttemptsOptions, 'clock' | 'giveUp'>,
): Promise<T> {
  const ended = new AbortController()
  const late = new AbortController()
  void clock.sleep(tryMaxMs, ended.signal).then(() => late.abort())
  try {
    return await call(AbortSignal.any([giveUp, late.signal]))
  } finally {
    ended.abort()
  }
}

function isFailure(result: { readonly kind: string }): result is Failed {
  return result.kind === 'refused' || result.kind === 'retryable' || result.kind === 'unknown'
}
