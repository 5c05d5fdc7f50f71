import { ourHeader } from '../header.ts'
import { keyColumns, rowKey } from '../row-key.ts'
import type {
  LayoutChanged,
  Refused,
  Retryable,
  RowKey,
  RowPart,
  RowReader,
  RowsEnd,
} from '../spreadsheet.ts'
import { listIn, numberIn } from './answer.ts'
import { headerRanges, letters, parameters, perCall, quoted } from './ranges.ts'
import { isSamePlace, type Place, placeOf } from './place.ts'
import { listSheets, listUnreadable } from './sheet-list.ts'
import {
  cellFields,
  readFirstRows,
  readSheets,
  rowsIn,
  type Sheet,
  sheetFields,
  wordsFor,
} from './sheets.ts'
import { type ApiFailure, notSent, type SheetsApi } from './sheets-api.ts'

/** Rows in one call: 4 MB of two short cells each, and at most 16 MB of the longest addresses. */
const rowsPerCall = 40_000

/** Rows in one call of a tab that has the timestamp in its metadata, up to 10,000 characters a cell. */
const wideRowsPerCall = 1_000

/** A sheet whose rows are read. */
interface Reading {
  sheet: Sheet
  readonly place: Place
  /** The columns to read, from 0. */
  readonly from: number
  readonly to: number
  /** How much of a call's room a row takes. */
  readonly weight: number
  /** The next row to read, from 0. */
  row: number
}

/**
 * Reads the address and the timestamp of each row in any number of tabs, `rowsPerCall` at a time. Each
 * call also reads the header rows again, so that a column or tab that people move is noticed.
 */
export class GoogleRowReader implements RowReader {
  readonly #api: SheetsApi
  #readings: Reading[] | undefined
  /** Sheets whose titles Google cannot read in a range. */
  readonly #unread: Sheet[] = []
  /** Parts that were read and not yet given. */
  readonly #parts: RowPart[] = []
  #calls = 0
  /** How much of the next call's room is used. It is halved when rows are larger than usual. */
  #share = 1

  constructor(api: SheetsApi) {
    this.#api = api
  }

  async next(
    signal: AbortSignal,
  ): Promise<RowPart | RowsEnd | LayoutChanged | Refused | Retryable> {
    while (!this.#readings) {
      const begun = await this.#begin(signal)
      if (begun.kind !== 'ok') return begun
    }
    while (this.#parts.length === 0 && this.#left().length > 0) {
      const read = await this.#read(signal)
      if (read.kind !== 'ok') return read
    }
    const unread = this.#unread.map((sheet) => ({ name: sheet.title, place: wordsFor(sheet) }))
    return this.#parts.shift() ?? { kind: 'end', isOneMoment: this.#calls <= 1, unread }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.length = 0
  }

  /** Finds out which columns of which sheets to read, or else which sheets cannot be read. */
  async #begin(signal: AbortSignal): Promise<Done> {
    const listed = await listSheets(this.#api, signal)
    if (listed.kind !== 'listed') return notSent(listed)
    const unread = new Set(this.#unread.map(({ sheetId }) => sheetId))
    const sheets = listed.sheets.filter(({ isGrid, sheetId }) => isGrid && !unread.has(sheetId))
    const readings: Reading[] = []
    for (const asked of perCall(sheets, headerRanges)) {
      const answer = await this.#ask(asked.map(headerRanges).flat(), signal)
      if (answer.kind !== 'ok') return this.#leaveOut(asked, answer, signal)
      const found = places(answer.body)
      for (const { sheetId } of asked) {
        const at = found.get(sheetId)
        if (!at) return { kind: 'changed' }
        readings.push(readingOf(at))
      }
    }
    this.#readings = readings
    return { kind: 'ok' }
  }

  /** Leaves out the sheets for which Google refused to read any of these. */
  async #leaveOut(
    asked: readonly Sheet[],
    failure: ApiFailure,
    signal: AbortSignal,
  ): Promise<Done> {
    if (failure.error?.status !== 400) return notSent(failure)
    const unreadable = await listUnreadable(this.#api, asked, signal)
    if (unreadable.kind !== 'listed') return notSent(unreadable)
    if (unreadable.sheets.length === 0) return { kind: 'changed' }
    this.#unread.push(...unreadable.sheets)
    return { kind: 'ok' }
  }

  #left(): Reading[] {
    return (this.#readings ?? []).filter(({ row, sheet }) => row < sheet.rowCount)
  }

  /** Reads the next rows of one sheet or, when they are small, of several. */
  async #read(signal: AbortSignal): Promise<Done> {
    let room = rowsPerCall * this.#share
    const shares: Share[] = []
    for (const reading of this.#left()) {
      const { weight, row, sheet } = reading
      const fitting = Math.max(shares.length === 0 ? 1 : 0, Math.floor(room / weight))
      const count = Math.min(fitting, sheet.rowCount - row)
      // A sheet that fits into a call of its own is not split.
      if (shares.length > 0 && count < sheet.rowCount - row) break
      shares.push({ reading, count })
      room -= count * weight
    }
    const rangesOf = ({ reading, count }: Share) => [
      ...headerRanges(reading.sheet),
      rowRange(reading, count),
    ]
    const [asked = []] = perCall(shares, rangesOf)
    const answer = await this.#ask(asked.flatMap(rangesOf), signal)
    if (answer.kind !== 'ok') {
      if (answer.isTooLarge !== true || !asked.some(({ count }) => count > 1)) return failed(answer)
      this.#share /= 2
      return { kind: 'ok' }
    }
    this.#calls += 1
    const now = places(answer.body)
    const isSame = asked.every(({ reading: { sheet, place } }) => {
      const found = now.get(sheet.sheetId)
      return found && isSamePlace(found.place, place)
    })
    if (!isSame) return { kind: 'changed' }
    for (const share of asked) this.#take(share, answer.body, now)
    return { kind: 'ok' }
  }

  #take({ reading, count }: Share, answer: unknown, now: ReadonlyMap<number, Found>): void {
    const { sheet, place, from, row } = reading
    const cells = cellsFrom(answer, sheet.sheetId, row, from)
    const at = (place.table?.column ?? 0) - from
    const header = { ...place.header, at: place.header.at.map((it) => (it < 0 ? it : it + at)) }
    const rows = cells
      .map((texts) => rowKey(texts, header))
      .filter((key): key is RowKey => key !== undefined)
    this.#parts.push({ kind: 'rows', place: String(sheet.sheetId), tab: sheet.title, rows })
    reading.row += count
    // Our own batches may have made the sheet longer.
    reading.sheet = now.get(sheet.sheetId)?.sheet ?? sheet
  }

  #ask(ranges: readonly string[], signal: AbortSignal) {
    const fields = encodeURIComponent(`sheets(${sheetFields},${cellFields})`)
    const path = `?prettyPrint=false&fields=${fields}${parameters(ranges)}`
    return this.#api.call({ method: 'GET', path }, signal)
  }
}

interface Share {
  readonly reading: Reading
  readonly count: number
}

type Done = { readonly kind: 'ok' } | LayoutChanged | Refused | Retryable

interface Found {
  readonly sheet: Sheet
  readonly place: Place
}

/** The sheets of an answer, and where our rows are in them. */
function places(answer: unknown): ReadonlyMap<number, Found> {
  const firstRows = readFirstRows(answer)
  const found = (readSheets(answer) ?? []).map((sheet) => {
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
    sheet,
    place,
    from: Math.min(...columns) + offset,
    to: Math.max(...columns) + offset,
    weight: isWide ? rowsPerCall / wideRowsPerCall : 1,
    row: 0,
  }
}

function rowRange({ sheet, from, to, row }: Reading, count: number): string {
  return `${quoted(sheet)}!${letters(from)}${row + 1}:${letters(to)}${row + count}`
}

/** The rows of the part of an answer that begins at this cell. A header row may begin there, too. */
function cellsFrom(answer: unknown, sheetId: number, row: number, column: number) {
  const sheet = listIn(answer, 'sheets').find(
    (it) => numberIn(it, 'properties', 'sheetId') === sheetId,
  )
  const parts = listIn(sheet, 'data').filter(
    (part) => numberIn(part, 'startRow') === row && numberIn(part, 'startColumn') === column,
  )
  return parts.map(rowsIn).reduce((long, one) => (one.length > long.length ? one : long), [])
}

/** Google refuses a range of a tab that people have renamed, deleted or made shorter. */
function failed(failure: ApiFailure): LayoutChanged | Refused | Retryable {
  return failure.error?.status === 400 ? { kind: 'changed' } : notSent(failure)
}
