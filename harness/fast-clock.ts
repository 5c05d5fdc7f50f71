import { globSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmulatorClock } from '../emulators/google-sheets/clock.ts'

/** Time that runs `speed` times as fast as the real one, from now on. Milliseconds. */
export class FastClock implements EmulatorClock {
  readonly #start = Date.now()
  readonly #speed: number

  constructor(speed: number) {
    this.#speed = speed
  }

  now(): number {
    return this.#start + (Date.now() - this.#start) * this.#speed
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = setTimeout(run, delayMs / this.#speed)
    return () => clearTimeout(timer)
  }

  /** Resolves once it is this late. */
  async until(time: number): Promise<void> {
    await sleep(Math.max(0, time - this.now()) / this.#speed)
  }

  /**
   * Settings with which a process that starts now keepMs in this time: its clocks and its timers, by
   * libfaketime of Debian's package `faketime`.
   */
  environment(): Readonly<Record<string, string>> {
    const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')
    if (library === undefined) throw new Error('libfaketime is missing: install faketime.')
    const aheadSeconds = (this.now() - Date.now()) / 1000
    return { LD_PRELOAD: library, FAKETIME: `+${aheadSeconds} x${this.#speed}` }
  }
}
