import type { Millis } from '../../../src/signup/signup.ts'

interface Event {
  readonly at: Millis
  readonly order: number
  /** Undefined once it was cancelled. */
  run: (() => void) | undefined
}

/**
 * Time that stands still until no code can run any more, and then moves to the next event. Events of
 * one moment run in the order in which they were planned, so the same plan gives the same run.
 */
export class SimulatedTime {
  now: Millis = 0
  /** For code that measures how long its work takes: here it takes no time. */
  readonly clock = {
    elapsed: (): Millis => this.now,
    sleep: (ms: Millis) => new Promise<void>((resolve) => this.after(ms, resolve)),
  }
  events = 0
  /** How many pieces of work go on that need turns of the event loop, but no simulated time. */
  #busy = 0
  readonly #heap: Event[] = []
  #planned = 0

  /** Runs `run` later. Returns a function that cancels it. */
  after(ms: Millis, run: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), order: this.#planned++, run }
    this.#push(event)
    return () => {
      event.run = undefined
    }
  }

  /** Keeps time still until `work` has ended. */
  async standStill<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1
    try {
      return await work()
    } finally {
      this.#busy -= 1
    }
  }

  /** Runs the events until `isDone`, or until none is left before `end`. */
  async runUntil(end: Millis, isDone: () => boolean): Promise<void> {
    for (;;) {
      do await turn()
      while (this.#busy > 0)
      if (isDone()) return
      const next = this.#pop()
      if (!next) return
      if (next.at > end) {
        this.#push(next)
        this.now = end
        return
      }
      this.now = next.at
      this.events += 1
      next.run?.()
    }
  }

  #push(event: Event): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(event)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (!above || !isBefore(event, above)) break
      heap[index] = above
      index = parent
    }
    heap[index] = event
  }

  /** Removes and returns the next event that was not cancelled. */
  #pop(): Event | undefined {
    const heap = this.#heap
    for (;;) {
      const first = heap[0]
      const last = heap.pop()
      if (!first || !last) return undefined
      if (first !== last) this.#sink(last)
      if (first.run) return first
    }
  }

  #sink(event: Event): void {
    const heap = this.#heap
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      const left = heap[child]
      const right = heap[child + 1]
      if (!left) break
      let least = left
      if (right && isBefore(right, left)) {
        least = right
        child += 1
      }
      if (!isBefore(least, event)) break
      heap[index] = least
      index = child
    }
    heap[index] = event
  }
}

function isBefore(left: Event, right: Event): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order)
}

/**
 * One turn of the event loop. A process awaits only promises of the simulation, so all chains of promises
 * have ended after it. The group commit of the journal has ended, too, as it planned its turn before.
 */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
