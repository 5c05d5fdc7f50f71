/** The clock of the emulator, in milliseconds. Tests can stop it. */
export interface EmulatorClock {
  now(): number
  /** Runs something later. The returned function cancels it. */
  after(delayMs: number, run: () => void): () => void
}

export const realClock: EmulatorClock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** A clock that stands still until a test advances it. Work that falls due runs in order. */
export class ManualClock implements EmulatorClock {
  #nowMs: number
  #pending: { readonly dueMs: number; readonly run: () => void }[] = []

  constructor(nowMs: number) {
    this.#nowMs = nowMs
  }

  now(): number {
    return this.#nowMs
  }

  after(delayMs: number, run: () => void): () => void {
    const entry = { dueMs: this.#nowMs + delayMs, run }
    this.#pending.push(entry)
    return () => {
      this.#pending = this.#pending.filter((other) => other !== entry)
    }
  }

  advance(byMs: number): void {
    const end = this.#nowMs + byMs
    for (;;) {
      const [next] = this.#pending
        .filter(({ dueMs }) => dueMs <= end)
        .sort((left, right) => left.dueMs - right.dueMs)
      if (!next) break
      this.#pending = this.#pending.filter((other) => other !== next)
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.run()
    }
    this.#nowMs = end
  }
}
