import type { Erasure, RowToRemove } from '../journal/contracts/erasure.ts'
import type { Millis } from '../signup/signup.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type AttemptsOptions, type Blocked, blockedAgain, inTime } from './attempts.ts'

export interface RemoverOptions extends Pick<AttemptsOptions, 'clock' | 'events' | 'giveUp'> {
  readonly erasure: Pick<Erasure, 'removals' | 'removed' | 'scrub'>
  readonly spreadsheet: Pick<Spreadsheet, 'remove'>
}

/** How soon a row is looked for again after it was removed, or was moved by a person just then. */
const againMs = 1000

/**
 * Removes the rows of forgotten people from the spreadsheet, in between batches. A removal is done when
 * a search finds no such row. One that fails waits, and never holds a batch back.
 */
export class Remover {
  readonly #options: RemoverOptions
  #notBefore: Millis = 0
  #failing: Blocked | undefined
  /** Whether copies of erased cells may be in the journal's log: at a start, and after a removal. */
  #mustScrub = true
  /** The positions of rows that were found, so that they can be told from rows that never were. */
  readonly #found = new Set<number>()

  constructor(options: RemoverOptions) {
    this.#options = options
  }

  async isDue(): Promise<boolean> {
    if (this.#options.clock.elapsed() < this.#notBefore) return false
    return this.#mustScrub || (await this.#options.erasure.removals(0)).length > 0
  }

  /** Makes one try for the rows that wait, if it is due. Mostly makes no call. */
  async keepUp(): Promise<void> {
    const { erasure, clock } = this.#options
    if (clock.elapsed() < this.#notBefore) return
    const rows = await erasure.removals(0)
    if (rows.length > 0) return this.#try(rows)
    this.#mustScrub = !(await erasure.scrub())
    // Another process prevents it for now.
    if (this.#mustScrub) this.#notBefore = clock.elapsed() + againMs
  }

  async #try(rows: readonly RowToRemove[]): Promise<void> {
    const { spreadsheet, clock } = this.#options
    const result = await inTime((signal) => spreadsheet.remove(rows, signal), this.#options)
    if (result.kind !== 'removed') {
      this.#wait(result.message)
      return
    }
    await this.#note(rows, result.standing, result.others)
    if (result.failure) {
      this.#wait(result.failure.message)
      return
    }
    this.#failing = undefined
    if (result.standing.some((count) => count > 0)) this.#notBefore = clock.elapsed() + againMs
  }

  async #note(
    rows: readonly RowToRemove[],
    standing: readonly number[],
    others: readonly number[],
  ): Promise<void> {
    const { erasure, events } = this.#options
    const counts = { removed: 0, missing: 0 }
    for (const [index, { position }] of rows.entries()) {
      if (standing[index] !== 0) this.#found.add(position)
      else {
        const wasFound = this.#found.delete(position)
        this.#mustScrub = true
        counts[wasFound ? 'removed' : 'missing'] += 1
        await erasure.removed(position, { wasFound, others: others[index] ?? 0 })
      }
    }
    if (counts.removed + counts.missing > 0) events.rowsRemoved(counts)
  }

  #wait(reason: string): void {
    const { clock, events } = this.#options
    if (!this.#failing) events.removalDelayed(reason)
    const failing = blockedAgain(this.#failing, clock.elapsed())
    this.#failing = failing
    this.#notBefore = clock.elapsed() + failing.waitMs
  }
}
