import type { Clock } from '../platform/clock.ts'
import type { Logger } from './log.ts'

const perMinute = 60

/** Limits the log lines about refused requests of all sites together, so that they cannot fill the disk. */
export class ToldLines {
  readonly #clock: Pick<Clock, 'elapsed'>
  #minuteEnds = -Infinity
  #told = 0
  #leftOut = 0

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock
  }

  /** Whether one more line may be told. The log first tells how many were left out a minute ago. */
  takes(log: Logger): boolean {
    const now = this.#clock.elapsed()
    if (now >= this.#minuteEnds) {
      if (this.#leftOut > 0) {
        log.info({ leftOut: this.#leftOut }, 'more requests were refused and logged at debug only')
      }
      this.#minuteEnds = now + 60_000
      this.#told = this.#leftOut = 0
    }
    if (this.#told++ < perMinute) return true
    this.#leftOut++
    return false
  }
}
