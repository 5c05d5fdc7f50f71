import type { Events } from '../ops/events.ts'
import type { Clock, Random } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { Refused, Retryable, Unknown } from '../spreadsheet/spreadsheet.ts'
import { backoffMs, blockedRetryMs } from './backoff.ts'

/**
 * How long one try may take, in milliseconds, waiting for the quota included: much shorter than the
 * life of a marker, which another writer on the same journal may begin to count meanwhile.
 */
export const tryMaxMs = 5 * 60 * 1000

export interface AttemptsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly events: Events
  /** No further try is made, and every wait ends. */
  readonly stopping: AbortSignal
  /** The try that is under way is given up. */
  readonly giveUp: AbortSignal
}

/** What a call to the spreadsheet can come back with, besides success. */
export type Failure = Refused | Retryable | Unknown

/** Tries again: BACKING OFF after what may pass by itself, BLOCKED after what only a person can mend. */
export class Attempts {
  readonly #options: AttemptsOptions
  /** Delivery waits for a person since then, and was tried that often. */
  #blocked: { readonly since: Millis; readonly tries: number } | undefined
  #isDelayed = false

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /**
   * Makes a call until it succeeds or fails in a way that `isFinal` wants to see; undefined on stop.
   * The signal gives up a try that takes longer than `tryMaxMs`.
   */
  async persist<T extends { readonly kind: string }>(
    call: (signal: AbortSignal) => Promise<T>,
    isFinal: (failure: Failure) => boolean = () => false,
  ): Promise<Exclude<T, Retryable | Unknown> | undefined> {
    const { stopping } = this.#options
    for (let failures = 1; !stopping.aborted; failures++) {
      const result: T | Failure = await this.#inTime(call)
      if (!isFailure(result) || isFinal(result)) {
        this.resume()
        return result as Exclude<T, Retryable | Unknown>
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

  /** Delivery goes on, if it was delayed or blocked. */
  resume(): void {
    if (this.#blocked || this.#isDelayed) this.#options.events.deliveryResumed()
    this.#blocked = undefined
    this.#isDelayed = false
  }

  /** Waits before the next try, after so many that failed in a row. */
  async backOff(
    failures: number,
    { message, afterMs }: Pick<Retryable, 'message' | 'afterMs'>,
  ): Promise<void> {
    await this.delay(message, backoffMs(failures, afterMs, this.#options.random))
  }

  /** Waits, and says why; delivery is delayed until `resume`. */
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

  async #inTime<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, giveUp } = this.#options
    const ended = new AbortController()
    const late = new AbortController()
    void clock.sleep(tryMaxMs, ended.signal).then(() => late.abort())
    try {
      return await call(AbortSignal.any([giveUp, late.signal]))
    } finally {
      ended.abort()
    }
  }

  async #block(refused: Refused): Promise<void> {
    const { clock, events } = this.#options
    const now = clock.elapsed()
    const { since, tries } = this.#blocked ?? { since: now, tries: 0 }
    this.#blocked = { since, tries: tries + 1 }
    events.deliveryBlocked(refused)
    await this.rest(blockedRetryMs(tries + 1, now - since))
  }
}

function isFailure(result: { readonly kind: string }): result is Failure {
  return result.kind === 'refused' || result.kind === 'retryable' || result.kind === 'unknown'
}
