import type { DeliveryLog, RunningTime } from '../journal/contracts/delivery-log.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

/**
 * Adds this process's time to the journal's running time, by which markers age. Neither downtime nor
 * jumps of the wall clock count.
 */
export class ProcessTime {
  readonly #journal: Pick<DeliveryLog, 'noteRunningTime'>
  readonly #clock: Clock
  readonly #name = crypto.randomUUID()
  /** The start, on the elapsed clock, of the time that is not noted yet. */
  #measuredFrom: Millis
  #seen: RunningTime | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(journal: Pick<DeliveryLog, 'noteRunningTime'>, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
    this.#measuredFrom = clock.elapsed()
  }

  /**
   * Notes the time since the last note, and how long markers that begin to age now are kept. Returns the
   * running time. Rejects with `JournalUnavailable`; the next note then includes this time.
   */
  note(keepMs: ReadonlyMap<number, Millis> = new Map()): Promise<Millis> {
    // One note at a time: two notes at once would count the same time twice.
    const noted = this.#last.then(() => this.#note(keepMs))
    this.#last = noted.catch(() => undefined)
    return noted
  }

  async #note(keepMs: ReadonlyMap<number, Millis>): Promise<Millis> {
    const ms = Math.floor(this.#clock.elapsed() - this.#measuredFrom)
    this.#seen = await this.#journal.noteRunningTime({
      by: this.#name,
      ms,
      seen: this.#seen,
      keepMs,
    })
    // Start again now, as another process may have noted its own time since `ms` was measured.
    this.#measuredFrom = this.#clock.elapsed()
    return this.#seen.ms
  }
}
