import { readHeader } from '../header.ts'
import { keyColumns, metadataColumn } from '../row-key.ts'
import { hasTimestamp, type WantedRows } from '../wanted-rows.ts'
import { fieldIn, listIn, numberIn, textOf } from './answer.ts'
import { listSheets, type Part, rangeOf, readFirstOf, rowsIn } from './sheet-parts.ts'
import type { Sheet } from './sheets.ts'
import { isRangeRefused, ReadFailed, type SheetsApi } from './sheets-api.ts'

/** A row of the spreadsheet that is one of those to remove. */
export interface FoundRow {
  readonly sheetId: number
  /** Its index in the sheet, from 0, at the moment of the search. */
  readonly row: number
  /** The cells that name it: its address, the cell that has its timestamp, and the one with its mark. */
  readonly cells: readonly { readonly column: number; readonly text: string }[]
}

/** Bounds of one answer, which must stay under 16 MiB. Metadata may have 10,000 characters. */
const cellsPerCall = { ofAllColumns: 26_000, ofFewColumns: 100_000 }
const fewColumns = 3
/** Columns after these are searched only when the header row or a table has them. */
const columnsMax = 26

const fields =
  'sheets(properties(sheetId),data(startRow,startColumn,rowData(values(effectiveValue(stringValue)))))'

/**
 * Finds rows in all tabs, whatever their names and the order of their columns: the rows with a cell that
 * is the address, letter case aside, and another cell that has the timestamp.
 *
 * @throws ReadFailed
 */
export async function searchRows(
  api: SheetsApi,
  wanted: WantedRows,
  signal: AbortSignal,
): Promise<{ readonly sheets: readonly Sheet[]; readonly rows: readonly FoundRow[] }> {
  const sheets = (await listSheets(api, signal)).filter(({ isGrid }) => isGrid)
  const rows: FoundRow[] = []
  const ask = (ranges: readonly string[]) => api.read(fields, signal, ranges)
  let parts = sheets.map((sheet) => partOf(sheet, 0, [0, columnsOf(sheet) - 1]))
  while (parts.length > 0) {
    try {
      const { read, answer } = await readFirstOf(parts, (part) => [rangeOf(part)], ask)
      const found = readRows(answer)
      rows.push(...found.flatMap((row) => foundIn(row, wanted)))
      const next = read.flatMap((part) => following(part, found, wanted))
      parts = [...next, ...parts.slice(read.length)]
    } catch (error) {
      if (!isRangeRefused(error)) throw error
      const why = 'a tab was changed just now, or Google cannot read its title: rename it then'
      const message = `${error.message}: ${why}`
      throw new ReadFailed({ kind: 'retryable', message, afterMs: 0 })
    }
  }
  return { sheets, rows }
}

/** The rows of a sheet from `row` on, in the columns from the least of these to the greatest. */
function partOf(sheet: Sheet, row: number, columns: readonly number[]): Part {
  const [from, to] = [Math.min(...columns), Math.max(...columns)]
  const width = to - from + 1
  const cells = width <= fewColumns ? cellsPerCall.ofFewColumns : cellsPerCall.ofAllColumns
  return { sheet, row, from, to, rowsMax: Math.max(1, Math.floor(cells / width)) }
}

function columnsOf({ tables, columnCount }: Sheet): number {
  const ends = tables.map(({ column, names }) => column + names.length)
  return Math.min(columnCount, Math.max(columnsMax, ...ends))
}

/** What comes after a part that was read; nothing at the end of the sheet. */
function following(part: Part, read: readonly ReadRow[], wanted: WantedRows): readonly Part[] {
  const { sheet } = part
  const row = part.row + rowsIn(part)
  if (row >= sheet.rowCount) return []
  // The rows of a table need not have the columns that the first row names.
  if (part.row > 0 || sheet.tables.length > 0) return [{ ...part, row }]
  const head = read.find((one) => one.sheetId === sheet.sheetId && one.row === 0)
  const header = readHeader(head?.texts ?? [])
  const columns = keyColumns(header)
  // In a long tab with a header row, only the columns from Email to Timestamp are read below, or to Metadata.
  const isKnown = header.kind !== 'none' && columns.length === 2
  const needed = wanted.haveMarks ? [...columns, ...metadataColumn(header)] : columns
  return [isKnown ? partOf(sheet, row, needed) : { ...part, row }]
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
    ...(found.mark === '' ? [] : [texts.findIndex((text) => text.includes(found.mark))]),
  ].map((at) => ({ column: firstColumn + at, text: texts[at] ?? '' }))
  return [{ sheetId, row, cells }]
}
