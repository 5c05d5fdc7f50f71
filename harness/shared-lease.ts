import type { Lease, Tenure } from '../src/journal/contracts/lease.ts'
import type { Clock } from '../src/platform/clock.ts'

const lifeMs = 6000
const forMs = 5000

/** The lease of one site in memory, as an engine keeps it that several instances share. */
export class SharedLease {
  readonly #clock: Pick<Clock, 'elapsed'>
  #holder = ''
  #term = 0
  #expiresAt = -Infinity

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
  }

  /** As this instance sees it. */
  of(instance: string): Lease {
    return {
      hold: async () => this.hold(instance),
      release: async () => this.release(instance),
    }
  }

  hold(instance: string): Tenure {
    const now = this.#clock.elapsed()
    // The clock was set back.
    this.#expiresAt = Math.min(this.#expiresAt, now + lifeMs)
    if (this.#holder !== instance) {
      if (this.isHeld) return { kind: 'elsewhere' }
      this.#term += 1
    }
    this.#holder = instance
    this.#expiresAt = now + lifeMs
    return { kind: 'held', term: this.#term, forMs }
  }

  release(instance: string): void {
    if (!this.isHeldBy(instance)) return
    this.#holder = ''
    this.#expiresAt = -Infinity
  }

  /** Whether any instance holds the lease now. */
  get isHeld(): boolean {
    return this.#clock.elapsed() < this.#expiresAt
  }

  /** Whether no other instance has taken the lease since, and this one has not given it up. */
  isHeldBy(instance: string, term = this.#term): boolean {
    return this.#holder === instance && this.#term === term
  }
}
