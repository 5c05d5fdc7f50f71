import type { RowToRemove } from './spreadsheet.ts'

interface RowTexts {
  /** In small letters. */
  readonly address: string
  readonly timestamp: string
  /** As in `RowToRemove`; a cell of any row has the empty one. */
  readonly mark: string
}

/** The rows to remove, each with how many rows of the spreadsheet are it, and how many only have its address. */
export class WantedRows {
  readonly standing: number[]
  readonly others: number[]
  readonly #wanted: readonly RowTexts[]

  constructor(rows: readonly RowToRemove[]) {
    this.standing = rows.map(() => 0)
    this.others = rows.map(() => 0)
    this.#wanted = rows.map(({ email, receivedAt, mark = '' }) => ({
      address: email.toLowerCase(),
      timestamp: new Date(receivedAt).toISOString(),
      mark,
    }))
  }

  /** Whether rows are told apart by a mark, which is in their metadata. */
  get haveMarks(): boolean {
    return this.#wanted.some(({ mark }) => mark !== '')
  }

  /**
   * Counts a row of the spreadsheet, and returns the texts of the wanted row that it is.
   *
   * @param readings the cells of the row, in each way to read them in which one of them is this address
   */
  count(readings: (address: string) => readonly (readonly string[])[]): RowTexts | undefined {
    let found: RowTexts | undefined
    for (const [index, texts] of this.#wanted.entries()) {
      const read = readings(texts.address)
      if (read.length === 0) continue
      const isRow = read.flat().some((cell) => hasTimestamp(cell, texts.timestamp))
      // Without its mark, it is the row of the same signup in its own tab.
      if (isRow && !read.flat().some((cell) => cell.includes(texts.mark))) continue
      const counts = isRow ? this.standing : this.others
      counts[index] = (counts[index] ?? 0) + 1
      if (isRow) found ??= texts
    }
    return found
  }
}

/** Whether the cell is the timestamp, or metadata that took it in because there is no column for it. */
export function hasTimestamp(cell: string, timestamp: string): boolean {
  return cell.trim() === timestamp || cell.includes(`":"${timestamp}"`)
}
