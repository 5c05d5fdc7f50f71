import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

interface Waiting {
  readonly site: { lastTurn: number }
  readonly give: (askedAt: Millis) => void
  readonly fail: (error: Error) => void
}

/**
 * Gives calls to sites by turns: of those that wait, the one whose last call is the oldest gets the next. So a
 * site that is quiet waits for one call at most, however many the others make.
 */
export class Turns {
  readonly #reserve: () => Promise<Millis>
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>
  #waiting: Waiting[] = []
  #turns = 0
  #isGiving = false
  #wake = new AbortController()

  /** @param reserve reserves a call and returns 0, or returns after how long to ask again */
  constructor(reserve: () => Promise<Millis>, clock: Pick<Clock, 'elapsed' | 'sleep'>) {
    this.#reserve = reserve
    this.#clock = clock
  }

  /**
   * The turns of one more site. Each waits for a reserved call, and returns the elapsed time before it was
   * reserved. Rejects when `signal` aborts.
   */
  join(): (signal: AbortSignal) => Promise<Millis> {
    const site = { lastTurn: 0 }
    return async (signal) => {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<Millis>()
      const waiting: Waiting = { site, give: resolve, fail: reject }
      const leave = () => {
        this.#leave(waiting)
        reject(signal.reason as Error)
        this.#wake.abort()
      }
      signal.addEventListener('abort', leave)
      this.#waiting.push(waiting)
      if (!this.#isGiving) void this.#giveAll()
      return promise.finally(() => signal.removeEventListener('abort', leave))
    }
  }

  #leave(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting)
  }

  async #giveAll(): Promise<void> {
    this.#isGiving = true
    while (this.#waiting.length > 0) {
      this.#wake = new AbortController()
      const askedAt = this.#clock.elapsed()
      try {
        const wait = await this.#reserve()
        if (wait > 0) await this.#clock.sleep(wait, this.#wake.signal)
        else this.#give(askedAt)
      } catch (error) {
        for (const { fail } of this.#waiting.splice(0)) fail(error as Error)
      }
    }
    this.#isGiving = false
  }

  /** Nobody gets the call when all have left meanwhile. */
  #give(askedAt: Millis): void {
    const [next] = this.#waiting.toSorted((one, other) => one.site.lastTurn - other.site.lastTurn)
    if (!next) return
    this.#turns += 1
    next.site.lastTurn = this.#turns
    this.#leave(next)
    next.give(askedAt)
  }
}
