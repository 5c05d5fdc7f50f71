import { type Clock, second } from '../platform/clock.ts'
import type { Profile } from '../spreadsheet/spreadsheet.ts'
import type { Attempts } from './attempts.ts'

/** What a signup takes of the event loop, about: docs/decisions/performance.md. */
const signupMs = 0.05

/** The longest rest of a writer that gives way: in the long run the quota of Google makes it as long. */
const giveWayMaxMs = second

/** How many signups within a quiet period make a burst. */
const burstFrom = 10

interface InflowOptions {
  readonly clock: Pick<Clock, 'elapsed'>
  readonly attempts: Pick<Attempts, 'rest'>
  readonly stopping: AbortSignal
  readonly linger: Profile['linger']
}

/** How many signups this process takes in, and how a writer rests for them. */
export class Inflow {
  readonly #options: InflowOptions
  #arrived = 0
  /** What `#arrived` was when the last batch was frozen that was full; undefined after another one. */
  #arrivedAtFull: number | undefined

  constructor(options: InflowOptions) {
    this.#options = options
  }

  add(signups: number): void {
    this.#arrived += signups
  }

  frozen(batch: { readonly isFull: boolean }): void {
    this.#arrivedAtFull = batch.isFull ? this.#arrived : undefined
  }

  /** Between full batches, rests for as long as the signups took that came meanwhile: they go first. */
  async giveWay(): Promise<void> {
    const arrived = this.#arrived - (this.#arrivedAtFull ?? this.#arrived)
    const ms = Math.min(arrived * signupMs, giveWayMaxMs)
    if (ms >= 1) await this.#options.attempts.rest(ms)
  }

  /** Lets a burst arrive: waits until no signup came for a moment, but not too long. */
  async untilQuiet(): Promise<void> {
    const { clock, attempts, stopping, linger } = this.#options
    const start = clock.elapsed()
    for (let maxMs = linger.maxMs; clock.elapsed() - start < maxMs && !stopping.aborted;) {
      const seen = this.#arrived
      await attempts.rest(linger.quietMs)
      const arrived = this.#arrived - seen
      if (arrived === 0) return
      maxMs = arrived >= burstFrom ? linger.burstMaxMs : linger.maxMs
    }
  }
}
