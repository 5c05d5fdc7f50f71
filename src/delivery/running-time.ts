import type { DeliveryLog, RunningTime } from '../journal/delivery-log.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/**
 * One process's part in the journal's running time, by which markers age: downtime does not count,
 * nor do jumps of the wall clock.
 */
export class ProcessTime {
  readonly #journal: Pick<DeliveryLog, 'noteRunningTime'>
  readonly #clock: Clock
  readonly #name = crypto.randomUUID()
  /** On the elapsed clock: since then, time is still to be noted. */
  #measuredFrom: Millis
  #seen: RunningTime | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(journal: Pick<DeliveryLog, 'noteRunningTime'>, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
    this.#measuredFrom = clock.elapsed()
  }

  /**
   * Notes what has passed since the last note, and the lives of markers that stand from now on. Returns
   * the running time. Rejects with `JournalUnavailable`; the next note has the time then.
   */
  note(lives: ReadonlyMap<number, Millis> = new Map()): Promise<Millis> {
    // One after the other: two at a time would both bring the same time.
    const noted = this.#last.then(() => this.#note(lives))
    this.#last = noted.catch(() => undefined)
    return noted
  }

  async #note(lives: ReadonlyMap<number, Millis>): Promise<Millis> {
    const ms = Math.floor(this.#clock.elapsed() - this.#measuredFrom)
    this.#seen = await this.#journal.noteRunningTime({
      by: this.#name,
      ms,
      seen: this.#seen,
      lives,
    })
    // Not from when `ms` was measured: another process may have noted its own time in between.
    this.#measuredFrom = this.#clock.elapsed()
    return this.#seen.ms
  }
}
