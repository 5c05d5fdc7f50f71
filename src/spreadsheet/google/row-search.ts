import { columns } from '../../signup/row.ts'
import { readHeader } from '../header.ts'
import { hasTimestamp, type WantedRows } from '../wanted-rows.ts'
import { letters, quoted } from './ranges.ts'
import { fieldIn, listIn, numberIn, textOf } from './answer.ts'
import { listSheets, listUnreadable } from './sheet-list.ts'
import type { Sheet } from './sheets.ts'
import type { ApiFailure, SheetsApi } from './sheets-api.ts'

/** A row of the spreadsheet that is one of those to remove. */
export interface FoundRow {
  readonly sheetId: number
  /** Its index in the sheet, from 0, at the moment of the search. */
  readonly row: number
  /** The cells that name it: its address, and the cell that has its timestamp. */
  readonly cells: readonly FoundCell[]
}

export interface FoundCell {
  readonly column: number
  readonly text: string
}

export interface Search {
  readonly kind: 'found'
  readonly sheets: readonly Sheet[]
  /** Those that were not searched, because Google cannot read their titles in a range. */
  readonly unread: readonly Sheet[]
  readonly rows: readonly FoundRow[]
}

/** Bounds of one answer, which must stay under 16 MiB. Metadata may have 10,000 characters. */
const cellsPerCall = { ofAllColumns: 26_000, ofFewColumns: 100_000 }
const fewColumns = 3
/** Columns after these are searched only when the header row or a table has them. */
const columnsMax = 26
/** Ranges are in the URL, and some servers limit a URL to 8,000 characters. */
const rangesPerCall = 20

const cells = 'data(startRow,startColumn,rowData(values(effectiveValue(stringValue))))'

/**
 * Finds rows in all tabs, whatever their names and the order of their columns: the rows with a cell that
 * is the address, letter case aside, and another cell that has the timestamp.
 */
export async function searchRows(
  api: SheetsApi,
  wanted: WantedRows,
  signal: AbortSignal,
): Promise<Search | ApiFailure> {
  const listed = await listSheets(api, signal)
  if (listed.kind !== 'listed') return listed
  const sheets = listed.sheets.filter(({ isGrid }) => isGrid)
  const unread: Sheet[] = []
  const found: FoundRow[] = []
  let parts = sheets.map((sheet): Part => ({
    sheet,
    row: 0,
    width: [0, columnsOf(sheet)],
    share: 1,
  }))
  while (parts.length > 0) {
    const now = fitting(parts)
    const ranges = now.map((part) => `&ranges=${encodeURIComponent(rangeOf(part))}`).join('')
    const fields = encodeURIComponent(`sheets(properties(sheetId),${cells})`)
    const answer = await api.call(
      { method: 'GET', path: `?prettyPrint=false&fields=${fields}${ranges}` },
      signal,
    )
    if (
      answer.kind !== 'ok' &&
      answer.isTooLarge === true &&
      now.some((part) => rowsIn(part) > 1)
    ) {
      parts = [...now.map(halved), ...parts.slice(now.length)]
      continue
    }
    if (answer.kind !== 'ok') {
      if (answer.error?.status !== 400) return answer
      const asked = now.map(({ sheet }) => sheet)
      const unreadable = await listUnreadable(api, asked, signal)
      if (unreadable.kind !== 'listed') return unreadable
      // A tab was renamed, deleted or made smaller since the list was read.
      if (unreadable.sheets.length === 0)
        return { kind: 'retryable', message: answer.message, afterMs: 0 }
      unread.push(...unreadable.sheets)
      parts = parts.filter(({ sheet }) => !unread.includes(sheet))
      continue
    }
    const rows = readRows(answer.body)
    found.push(...rows.flatMap((row) => foundIn(row, wanted)))
    const next = now.flatMap((part) => following(part, rows))
    parts = [...next, ...parts.slice(now.length)]
  }
  return { kind: 'found', sheets, unread, rows: found }
}

/** The rows of a sheet from `row` on, and the columns to read, without the last one. */
interface Part {
  readonly sheet: Sheet
  readonly row: number
  readonly width: readonly [number, number]
  /** How much of the rows that usually fit is read at once, because rows are large. */
  readonly share: number
}

function columnsOf({ tables, columnCount }: Sheet): number {
  const ends = tables.map(({ column, names }) => column + names.length)
  return Math.min(columnCount, Math.max(columnsMax, ...ends))
}

function halved(part: Part): Part {
  return { ...part, share: rowsIn(part) / rowsMax({ ...part, share: 1 }) / 2 }
}

function rowsIn(part: Part): number {
  return Math.min(part.sheet.rowCount - part.row, rowsMax(part))
}

/** How many rows of such a part fit into one answer. */
function rowsMax({ width: [from, to], share }: Part): number {
  const cells = to - from <= fewColumns ? cellsPerCall.ofFewColumns : cellsPerCall.ofAllColumns
  return Math.max(1, Math.floor((cells / (to - from)) * share))
}

/** The first parts that fit into one answer together; at least one. */
function fitting(parts: readonly Part[]): readonly Part[] {
  let filled = 0
  const count = parts.findIndex((part, index) => {
    filled += rowsIn(part) / rowsMax(part)
    return index > 0 && (filled > 1 || index >= rangesPerCall)
  })
  return count === -1 ? parts : parts.slice(0, count)
}

function rangeOf(part: Part): string {
  const { sheet, row, width } = part
  const [first, last] = [width[0], width[1] - 1].map(letters)
  return `${quoted(sheet)}!${first}${row + 1}:${last}${row + rowsIn(part)}`
}

/** What comes after a part that was read; nothing at the end of the sheet. */
function following(part: Part, read: readonly ReadRow[]): readonly Part[] {
  const { sheet } = part
  const row = part.row + rowsIn(part)
  if (row >= sheet.rowCount) return []
  // The rows of a table need not have the columns that the first row names.
  if (part.row > 0 || sheet.tables.length > 0) return [{ ...part, row }]
  const head = read.find((one) => one.sheetId === sheet.sheetId && one.row === 0)
  return [{ ...part, row, width: widthBy(head) ?? part.width }]
}

/** In a long tab with a header row, only the columns from Email to Timestamp are read below. */
function widthBy(head: ReadRow | undefined): Part['width'] | undefined {
  const { at, kind } = readHeader(head?.texts ?? [])
  const [email = -1, timestamp = -1] = at
  const second = timestamp === -1 ? (at[columns.indexOf('Metadata')] ?? -1) : timestamp
  if (kind === 'none' || email === -1 || second === -1) return undefined
  return [Math.min(email, second), Math.max(email, second) + 1]
}

interface ReadRow {
  readonly sheetId: number
  readonly row: number
  readonly firstColumn: number
  /** The texts that were entered; '' for cells of other kinds. */
  readonly texts: readonly string[]
}

function readRows(spreadsheet: unknown): readonly ReadRow[] {
  return listIn(spreadsheet, 'sheets').flatMap((sheet) => {
    const sheetId = numberIn(sheet, 'properties', 'sheetId')
    return listIn(sheet, 'data').flatMap((part) => {
      const [startRow, firstColumn] = [numberIn(part, 'startRow'), numberIn(part, 'startColumn')]
      return listIn(part, 'rowData').map((row, index) => ({
        ...{ sheetId, row: startRow + index, firstColumn },
        texts: listIn(row, 'values').map((cell) =>
          textOf(fieldIn(cell, 'effectiveValue', 'stringValue')),
        ),
      }))
    })
  })
}

/** The row, if it is one of those to remove. */
function foundIn({ sheetId, row, firstColumn, texts }: ReadRow, wanted: WantedRows): FoundRow[] {
  if (!texts.some((text) => text.includes('@'))) return []
  const isAddress = (text: string, address: string) => text.trim().toLowerCase() === address
  const found = wanted.count((address) =>
    texts.some((text) => isAddress(text, address)) ? [texts] : [],
  )
  if (!found) return []
  const cells = [
    texts.findIndex((text) => isAddress(text, found.address)),
    texts.findIndex((text) => hasTimestamp(text, found.timestamp)),
  ].map((at) => ({ column: firstColumn + at, text: texts[at] ?? '' }))
  return [{ sheetId, row, cells }]
}
