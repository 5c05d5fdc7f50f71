import { iso } from '../../platform/clock.ts'
import type { FrozenBatch } from '../../signup/batch.ts'
import { isSamePlace, type Place } from './place.ts'
import type { TabPlan } from './requests.ts'

interface Landing {
  readonly batch: number
  readonly tab: string
  readonly place: Place
  readonly rows: string
  /** Whether the rows were written: `no` until that is known, `maybe` when it never will be. */
  hasLanded: 'no' | 'maybe' | 'yes'
}

/** The known current state of a sheet. */
export interface SheetNow {
  readonly words: string
  /** Whether this is still the sheet of the tab. */
  isOf(tab: string): boolean
  /** Where the sheet's rows go; undefined while that is not known. */
  readonly place: Place | undefined
}

/** Remembers where rows were written, until it is known whether a person changed the sheet just before. */
export class Landings {
  readonly #landings = new Map<number, Landing>()
  #notices: string[] = []

  /** Notes that the batch's rows may have gone to these places. Earlier notes about the batch stay. */
  note(batch: FrozenBatch, tabs: readonly TabPlan[]): void {
    for (const { sheetId, place, isNew, rows } of tabs) {
      if (isNew || this.#landings.get(sheetId)?.batch === batch.number) continue
      const times = rows.signups.map(({ receivedAt }) => receivedAt)
      const [first, last] = [Math.min(...times), Math.max(...times)].map(iso)
      this.#landings.set(sheetId, {
        batch: batch.number,
        tab: rows.tab,
        place,
        hasLanded: 'no',
        rows:
          `Batch ${batch.number}: ${times.length === 1 ? '1 row' : `${times.length} rows`} ` +
          `with Timestamps from ${first} to ${last}`,
      })
    }
  }

  landed(batch: FrozenBatch): void {
    for (const landing of this.#landings.values()) {
      if (landing.batch === batch.number) landing.hasLanded = 'yes'
    }
  }

  /** Whether another writer ended a batch before this one, so that its outcome stays unknown here. */
  endedElsewhere(next: FrozenBatch): boolean {
    const left = [...this.#landings.values()].filter(
      ({ batch, hasLanded }) => hasLanded === 'no' && batch !== next.number,
    )
    for (const landing of left) landing.hasLanded = 'maybe'
    return left.length > 0
  }

  /** Removes the notes about tries that did not apply the batch. */
  drop(batch: FrozenBatch): void {
    for (const [sheetId, landing] of this.#landings) {
      if (landing.batch === batch.number) this.#landings.delete(sheetId)
    }
  }

  /** Compares the notes with the current sheets. `sheetNow` returns undefined for a deleted sheet. */
  verify(sheetNow: (sheetId: number) => SheetNow | undefined): void {
    for (const [sheetId, { tab, place, rows, hasLanded }] of this.#landings) {
      if (hasLanded === 'no') continue
      const now = sheetNow(sheetId)
      if (now?.isOf(tab) && !now.place) continue
      this.#landings.delete(sheetId)
      if (!now) continue
      const went = `${rows} ${hasLanded === 'maybe' ? 'may have gone' : 'went'} to ${now.words}`
      if (!now.isOf(tab)) this.#notices.push(`${went}, which was renamed.`)
      else if (now.place && !isSamePlace(place, now.place)) {
        this.#notices.push(
          `${went} by the columns or the table that it had before somebody ` +
            'changed them: put these rows right by hand. Later ones go by the new ones.',
        )
      }
    }
  }

  takeNotices(): readonly string[] {
    const notices = this.#notices
    this.#notices = []
    return notices
  }
}
