import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/** So many tokens at a time, of which one comes back every `refillMs()`. */
export class Bucket {
  readonly #capacity: number
  readonly #refillMs: () => Millis
  readonly #clock: Pick<Clock, 'elapsed'>
  #count: number
  #at: Millis

  constructor(capacity: number, refillMs: () => Millis, clock: Pick<Clock, 'elapsed'>) {
    this.#capacity = capacity
    this.#refillMs = refillMs
    this.#clock = clock
    this.#count = capacity
    this.#at = clock.elapsed()
  }

  /** Milliseconds until there is a token, if nobody takes one before; 0 when there is one now. */
  wait(): Millis {
    this.#refill()
    return Math.ceil(Math.max(0, 1 - this.#count) * this.#refillMs())
  }

  /** Takes a token, if need be one that is still to come. */
  take(): void {
    this.#refill()
    this.#count -= 1
  }

  #refill(): void {
    const now = this.#clock.elapsed()
    const gained = Math.max(0, now - this.#at) / this.#refillMs()
    this.#count = Math.min(this.#capacity, this.#count + gained)
    this.#at = Math.max(this.#at, now)
  }
}
