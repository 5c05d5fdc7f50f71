import type { FrozenBatch } from '../../signup/batch.ts'
import { isSamePlace, type Place } from './place.ts'
import type { TabPlan } from './requests.ts'

interface Landing {
  readonly batch: number
  readonly tab: string
  readonly place: Place
  /** Which rows, for people. */
  readonly rows: string
  /** Whether they have landed, as is known by now. */
  hasLanded: boolean
}

/** How a sheet is now, as far as it is known. */
export interface SheetNow {
  /** For people. */
  readonly words: string
  /** Whether it still is the sheet of this tab. */
  isOf(tab: string): boolean
  /** Undefined while that is not known. */
  readonly place: Place | undefined
}

/** Which rows went where, until it is seen whether a person had changed the sheet just before. */
export class Landings {
  readonly #landings = new Map<number, Landing>()
  #notices: string[] = []

  /** The rows of this batch may have gone to these places. What is noted of it already stays. */
  note(batch: FrozenBatch, tabs: readonly TabPlan[]): void {
    for (const { sheetId, place, prepare, rows } of tabs) {
      if (prepare.kind === 'new sheet' || this.#landings.get(sheetId)?.batch === batch.number)
        continue
      const times = rows.signups.map(({ receivedAt }) => receivedAt)
      const [first, last] = [Math.min(...times), Math.max(...times)].map(timestamp)
      this.#landings.set(sheetId, {
        batch: batch.number,
        tab: rows.tab,
        place,
        hasLanded: false,
        rows:
          `Batch ${batch.number}: ${times.length === 1 ? '1 row' : `${times.length} rows`} ` +
          `with Timestamps from ${first} to ${last}`,
      })
    }
  }

  /** The batch was applied by the try that was noted; false when none was. */
  landed(batch: FrozenBatch): boolean {
    const own = [...this.#landings.values()].filter((landing) => landing.batch === batch.number)
    for (const landing of own) landing.hasLanded = true
    return own.length > 0
  }

  /** Nothing of what was noted of this batch has come true. */
  drop(batch: FrozenBatch): void {
    for (const [sheetId, landing] of this.#landings) {
      if (landing.batch === batch.number) this.#landings.delete(sheetId)
    }
  }

  /** Compares with what was learned since. `sheetNow` gives undefined for a sheet that is gone. */
  verify(sheetNow: (sheetId: number) => SheetNow | undefined): void {
    for (const [sheetId, { tab, place, rows, hasLanded }] of this.#landings) {
      if (!hasLanded) continue
      const now = sheetNow(sheetId)
      if (now?.isOf(tab) && !now.place) continue
      this.#landings.delete(sheetId)
      if (!now) continue
      if (!now.isOf(tab)) this.#notices.push(`${rows} went to ${now.words}, which was renamed.`)
      else if (now.place && !isSamePlace(place, now.place)) {
        this.#notices.push(
          `${rows} went to ${now.words} by the columns or the table that it had before somebody ` +
            'changed them: put these rows right by hand. Later ones go by the new ones.',
        )
      }
    }
  }

  /** Those that were not taken yet. */
  takeNotices(): readonly string[] {
    const notices = this.#notices
    this.#notices = []
    return notices
  }
}

function timestamp(at: number): string {
  return new Date(at).toISOString()
}
