import type { Lease, Tenure } from '../src/journal/lease.ts'
import type { Clock } from '../src/platform/clock.ts'

const lifeMs = 6000
const forMs = 5000

/** The lease of one site in memory, as an engine keeps it that several instances share. */
export class SharedLease {
  readonly #clock: Pick<Clock, 'elapsed'>
  #holder = ''
  #term = 0
  #expiresAt = 0

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
    if (this.#holder !== instance) {
      if (now < this.#expiresAt) return { kind: 'elsewhere' }
      this.#term += 1
    }
    this.#holder = instance
    this.#expiresAt = now + lifeMs
    return { kind: 'held', term: this.#term, forMs }
  }

  release(instance: string): void {
    if (this.#holder === instance) this.#expiresAt = 0
  }
}
