import type { Clock } from '../src/platform/clock.ts'

interface Sleeper {
  readonly at: number
  wake(): void
}

/**
 * A clock that skips waits. When everybody sleeps, it jumps to the time at which the first sleeper
 * wakes. A backlog that takes most of an hour is then delivered in seconds, by the same calls.
 */
export class HurriedClock implements Clock {
  readonly #sleepers = new Set<Sleeper>()
  #skippedMs = 0
  #underWay = 0
  #isLooking = false

  now(): number {
    return Date.now() + Math.round(this.#skippedMs)
  }

  elapsed(): number {
    return performance.now() + this.#skippedMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper = { at: this.elapsed() + ms, wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', wake)
      this.#look()
    })
  }

  /** Skips no time while this work is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1
    try {
      return await work()
    } finally {
      this.#underWay -= 1
      this.#look()
    }
  }

  /** Skips time two turns of the event loop later, when everything that could run has run. */
  #look(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    setImmediate(() =>
      setImmediate(() => {
        this.#isLooking = false
        if (this.#underWay > 0) return
        const [first] = [...this.#sleepers].sort((a, b) => a.at - b.at)
        if (!first) return
        this.#skippedMs += Math.max(0, first.at - this.elapsed())
        first.wake()
        this.#look()
      }),
    )
  }
}
