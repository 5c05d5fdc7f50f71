import { tabKey } from '../../../src/signup/signup.ts'
import type { Truth } from '../truth.ts'

/** A row that Google has just appended. */
export interface Landed {
  readonly tab: string
  readonly sheetId: number
  /** The title of that sheet. */
  readonly title: string
  /** The column (from 0) of its address. */
  readonly column: number
  /** The first row of the sheet. */
  readonly header: readonly string[]
}

/**
 * Checks that people may rearrange tabs and columns: after each change of a sheet, one batch of each writer
 * may go there by the layout from before. All later ones go by the new one.
 */
export class OldLayouts {
  readonly #truth: Truth
  readonly #writers: number
  /** How many batches may still go to a changed sheet by its old layout. */
  readonly #left = new Map<number, number>()

  constructor(truth: Truth, writers: number) {
    this.#truth = truth
    this.#writers = writers
  }

  /** Notes that a person has changed the title or the columns of a sheet. */
  changed(sheetId: number): void {
    this.#left.set(sheetId, this.#writers)
  }

  /** Checks the rows of a batch that was applied. Returns whether some went by an old layout. */
  see(rows: () => readonly Landed[]): boolean {
    if (this.#left.size === 0) return false
    const old = new Map(
      rows().flatMap((row) => (isByOldLayout(row) ? [[row.sheetId, row] as const] : [])),
    )
    for (const [sheetId, { tab, title, column }] of old) {
      const left = this.#left.get(sheetId) ?? 0
      if (left === 0) {
        this.#truth.violate(`a row for ${tab} went to ${title}, column ${column}, by an old layout`)
      }
      this.#left.set(sheetId, left - 1)
    }
    return old.size > 0
  }
}

function isByOldLayout({ tab, title, column, header }: Landed): boolean {
  const names = header.map((name) => name.toLowerCase())
  const isElsewhere = names.includes('email') && names[column] !== 'email'
  return tabKey(title) !== tabKey(tab) || isElsewhere
}
