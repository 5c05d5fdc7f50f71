import type { Clock } from '../src/platform/clock.ts'

interface Sleeper {
  readonly until: number
  wake(): void
}

/** So many wakes without any time in between are an endless loop, and end the test. */
const wakesAtOnceMax = 1000

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #elapsed = 0
  #wakesAtOnce = 0
  #wall: number
  readonly #sleepers = new Set<Sleeper>()

  constructor(wall = Date.UTC(2026, 10, 20, 10)) {
    this.#wall = wall
  }

  now(): number {
    return this.#wall + this.#elapsed
  }

  elapsed(): number {
    return this.#elapsed
  }

  /** How many wait for this clock. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  /** Moves the wall clock, but not the elapsed time. */
  jump(ms: number): void {
    this.#wall += ms
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const sleeper = {
        until: this.#elapsed + Math.max(0, ms),
        wake: () => {
          this.#sleepers.delete(sleeper)
          signal?.removeEventListener('abort', sleeper.wake)
          resolve()
        },
      }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', sleeper.wake)
    })
  }

  /** Moves time from sleeper to sleeper until `isDone`. Rejects when that takes over `maxMs`. */
  async runUntil(isDone: () => boolean, maxMs = 2 * 24 * 3_600_000): Promise<void> {
    const end = this.#elapsed + maxMs
    for (;;) {
      await settle()
      if (isDone()) return
      const next = Math.min(...[...this.#sleepers].map(({ until }) => until))
      if (next > end)
        throw new Error(`The test waited for something that did not happen within ${maxMs} ms.`)
      this.#moveTo(next)
    }
  }

  /** Moves time forward and wakes all who sleep until then. Rejects when somebody sleeps for no time, for ever. */
  async run(ms: number): Promise<void> {
    const end = this.#elapsed + ms
    for (;;) {
      await settle()
      const next = Math.min(...[...this.#sleepers].map(({ until }) => until))
      if (next > end) break
      this.#moveTo(next)
    }
    this.#elapsed = end
  }

  #moveTo(elapsed: number): void {
    this.#wakesAtOnce = elapsed > this.#elapsed ? 0 : this.#wakesAtOnce + 1
    if (this.#wakesAtOnce > wakesAtOnceMax)
      throw new Error('Somebody sleeps for no time, for ever.')
    this.#elapsed = Math.max(this.#elapsed, elapsed)
    for (const sleeper of [...this.#sleepers]) if (sleeper.until <= this.#elapsed) sleeper.wake()
  }
}

/** Waits for files to be on disk, and then enough turns of the event loop for group commits and sliced reads to end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 80; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    // The list is costly, and the last turn looks at it, too.
    if (turn % 8 === 7 && process.getActiveResourcesInfo().some(isOfFiles)) turn = 0
  }
}

/** Whether Node calls work on files by this name. */
function isOfFiles(name: string): boolean {
  return name === 'FSReqPromise' || name === 'CloseReq'
}
