import { ourHeader } from '../header.ts'
import { keyColumns, rowKey } from '../row-key.ts'
import type { NextRows, RowPart, RowReader } from '../spreadsheet.ts'
import { listIn, numberIn } from './answer.ts'
import { headerRanges, perCall } from './ranges.ts'
import { isSamePlace, type Place, placeOf } from './place.ts'
import { listSheets, type Part, rangeOf, readFirstOf, rowsIn } from './sheet-parts.ts'
import {
  cellFields,
  cellTexts,
  readFirstRows,
  readSheets,
  type Sheet,
  sheetFields,
} from './sheets.ts'
import { isRangeRefused, reading, type SheetsApi } from './sheets-api.ts'

/** Rows in one call: 4 MB of two short cells each, and at most 16 MB of the longest addresses. */
const rowsPerCall = 40_000

/** Rows in one call of a tab that has the timestamp in its metadata, up to 10,000 characters a cell. */
const wideRowsPerCall = 1_000

/** The rows of a sheet that are still to be read. */
interface Reading extends Part {
  readonly place: Place
}

/**
 * Reads the address and the timestamp of each row in any number of tabs, `rowsPerCall` at a time. Each
 * call also reads the header rows again, so that a column or tab that people move is noticed.
 */
export class GoogleRowReader implements RowReader {
  readonly #api: SheetsApi
  #left: readonly Reading[] | undefined
  /** Parts that were read and not yet given. */
  readonly #parts: RowPart[] = []
  #calls = 0

  constructor(api: SheetsApi) {
    this.#api = api
  }

  next(signal: AbortSignal): Promise<NextRows> {
    return reading<NextRows>(async () => {
      const sheets = this.#left ? [] : await listSheets(this.#api, signal)
      try {
        this.#left ??= await this.#begin(sheets, signal)
        while (this.#parts.length === 0 && this.#left && this.#left.length > 0) {
          this.#left = await this.#read(this.#left, signal)
        }
      } catch (error) {
        // Google refuses a range of a tab that people have renamed, deleted or made shorter.
        if (!isRangeRefused(error)) throw error
        return { kind: 'changed' }
      }
      if (!this.#left) return { kind: 'changed' }
      return this.#parts.shift() ?? { kind: 'end', isOneMoment: this.#calls <= 1 }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.length = 0
  }

  /** Finds out which columns of which sheets to read; undefined when somebody changes tabs meanwhile. */
  async #begin(
    sheets: readonly Sheet[],
    signal: AbortSignal,
  ): Promise<readonly Reading[] | undefined> {
    const readings: Reading[] = []
    const grids = sheets.filter(({ isGrid }) => isGrid)
    for (const asked of perCall(grids, headerRanges)) {
      const found = places(await this.#ask(asked.flatMap(headerRanges), signal))
      for (const { sheetId } of asked) {
        const at = found.get(sheetId)
        if (!at) return undefined
        readings.push(readingOf(at))
      }
    }
    return readings
  }

  /** Reads the next rows of one sheet or, when they are small, of several. Returns what is left then. */
  async #read(left: readonly Reading[], signal: AbortSignal): Promise<Reading[] | undefined> {
    const rangesOf = (part: Part) => [...headerRanges(part.sheet), rangeOf(part)]
    const ask = (ranges: readonly string[]) => this.#ask(ranges, signal)
    const { read, answer } = await readFirstOf(left, rangesOf, ask)
    this.#calls += 1
    const now = places(answer)
    const next: Reading[] = []
    for (const part of read) {
      const found = now.get(part.sheet.sheetId)
      if (!found || !isSamePlace(found.place, part.place)) return undefined
      this.#parts.push(rowPart(part, answer))
      // Our own batches may have made the sheet longer.
      const row = part.row + rowsIn(part)
      if (row < found.sheet.rowCount) next.push({ ...part, sheet: found.sheet, row })
    }
    return [...next, ...left.slice(read.length)]
  }

  #ask(ranges: readonly string[], signal: AbortSignal) {
    return this.#api.read(`sheets(${sheetFields},${cellFields})`, signal, ranges)
  }
}

interface Found {
  readonly sheet: Sheet
  readonly place: Place
}

/** The sheets of an answer, and where our rows are in them. */
function places(answer: unknown): ReadonlyMap<number, Found> {
  const firstRows = readFirstRows(answer)
  const found = readSheets(answer).map((sheet) => {
    const place = placeOf(sheet.tables, firstRows.get(sheet.sheetId) ?? [])
    return [sheet.sheetId, { sheet, place }] as const
  })
  return new Map(found)
}

function readingOf({ sheet, place }: Found): Reading {
  const columns = keyColumns(place.header)
  // Without a column for the timestamp, the metadata is read.
  const isWide = place.header.at[ourHeader.at[1] ?? 1] === -1
  const offset = place.table?.column ?? 0
  return {
    ...{ sheet, place, row: 0 },
    from: Math.min(...columns) + offset,
    to: Math.max(...columns) + offset,
    rowsMax: isWide ? wideRowsPerCall : rowsPerCall,
  }
}

function rowPart({ sheet, place, from, row }: Reading, answer: unknown): RowPart {
  const offset = (place.table?.column ?? 0) - from
  const at = place.header.at.map((column) => (column < 0 ? column : column + offset))
  const rows = cellsFrom(answer, sheet.sheetId, row, from)
    .map((texts) => rowKey(texts, { ...place.header, at }))
    .filter((key) => key !== undefined)
  return { kind: 'rows', place: String(sheet.sheetId), tab: sheet.title, rows }
}

/** The rows of the part of an answer that begins at this cell. A header row may begin there, too. */
function cellsFrom(answer: unknown, sheetId: number, row: number, column: number) {
  const sheet = listIn(answer, 'sheets').find(
    (it) => numberIn(it, 'properties', 'sheetId') === sheetId,
  )
  const parts = listIn(sheet, 'data').filter(
    (part) => numberIn(part, 'startRow') === row && numberIn(part, 'startColumn') === column,
  )
  return parts.map(cellTexts).reduce((long, one) => (one.length > long.length ? one : long), [])
}
