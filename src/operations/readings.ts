import { hash } from 'node:crypto'
import type { RowKey } from '../spreadsheet/spreadsheet.ts'

/** The rows of a tab so far. */
interface TabRows {
  count: number
  /** Of all of them, in their order. */
  digest: string
  /** Whether the first of them are those of the reading before. */
  agrees: boolean
}

/** Tells whether two readings of a spreadsheet gave the same rows in the same order. */
export class Readings {
  #before: ReadonlyMap<string, TabRows> | undefined
  #now: Map<string, TabRows> | undefined

  /** Begins a reading. */
  begin(): void {
    this.#before = this.#now
    this.#now = new Map()
  }

  /** Notes the next rows of a tab. */
  note(place: string, rows: readonly RowKey[]): void {
    const before = this.#before?.get(place)
    const tab = this.#now?.get(place) ?? { count: 0, digest: '', agrees: before?.count === 0 }
    this.#now?.set(place, tab)
    for (const { email, at } of rows) {
      tab.count += 1
      tab.digest = hash('sha256', `${tab.digest}\n${at}\n${email}`)
      if (tab.count === before?.count) tab.agrees = tab.digest === before.digest
    }
  }

  /** Rows may have been added below those of the reading before, as our own batches do. */
  get isSteady(): boolean {
    if (!this.#before) return false
    return [...this.#before.keys()].every((place) => this.#now?.get(place)?.agrees)
  }
}
