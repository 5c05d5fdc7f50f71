import type { Removed, RowToRemove } from '../spreadsheet.ts'
import { hasTimestamp, WantedRows } from '../wanted-rows.ts'
import type { Sheet, Table } from './sheets.ts'
import { isRangeRefused, ReadFailed, type SheetsApi } from './sheets-api.ts'
import { readHeader } from '../header.ts'
import { keyColumns, metadataColumn } from '../row-key.ts'
import { fieldIn, listIn, numberIn, textOf } from './answer.ts'
import { listSheets, type Part, rangeOf, readFirstOf, rowsIn } from './sheet-parts.ts'

const rowsPerCall = 100

/**
 * Removes rows with one call, after a search. Nothing rests on where the search has seen a row: people
 * sort, insert and delete at any time, and the call may be applied late or twice. So each row is removed
 * by four requests of one atomic call:
 *
 * 1. `insertDimension` inserts an empty row where the row was seen, which moves that one down.
 * 2. `updateCells` writes the address and the timestamp into it.
 * 3. `deleteDuplicates` compares these two cells of the two rows, and removes the lower row only when
 *    they are equal. If another row is there by now, it stays. In a table it removes the table's cells.
 * 4. `deleteDimension` deletes the row that the first request has inserted.
 *
 * Google does not document whether `deleteDuplicates` leaves empty cells or removes the row of the
 * sheet. No request depends on it: rows are removed from the last one up.
 *
 * @throws ReadFailed
 */
export async function removeRows(
  api: SheetsApi,
  rows: readonly RowToRemove[],
  signal: AbortSignal,
): Promise<Removed> {
  const wanted = new WantedRows(rows)
  const search = await searchRows(api, wanted, signal)
  // A call for each tab, so that one that is protected holds no other back.
  const calls = search.sheets.flatMap((sheet) => {
    const here = search.rows.filter(({ sheetId }) => sheetId === sheet.sheetId)
    return here.length > 0 ? [JSON.stringify({ requests: requestsFor(here, sheet) })] : []
  })
  let failure: Removed['failure']
  for (const body of calls) {
    // The replies are of no use: only a new search shows that no copy is left.
    const path = ':batchUpdate?fields=spreadsheetId'
    const answer = await api.call({ method: 'POST', path, body }, signal)
    if (answer.kind !== 'ok') failure = answer
  }
  const { standing, others } = wanted
  return { kind: 'removed', standing, others, ...(failure && { failure }) }
}

/** The requests that remove these rows, from the last one up, as rows below a removed one may move. */
function requestsFor(
  found: readonly FoundRow[],
  { sheetId, rowCount, tables }: Sheet,
): readonly object[] {
  const now = found.toSorted((one, other) => other.row - one.row).slice(0, rowsPerCall)
  // Google does not delete the last row below frozen rows.
  const isShort = rowCount <= now.length + frozenRowsMax
  const growth = { appendDimension: { sheetId, dimension: 'ROWS', length: 1 } }
  return [...(isShort ? [growth] : []), ...now.flatMap((row) => removeOne(row, tables))]
}

/** More frozen rows than anybody has in a sheet that is full of rows to remove. */
const frozenRowsMax = 5

function removeOne(found: FoundRow, tables: readonly Table[]): readonly object[] {
  const { sheetId, row, cells } = found
  const lines = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + 1 }
  return [
    { insertDimension: { range: lines, inheritFromBefore: false } },
    ...cells.map(({ column, text }) => ({
      updateCells: {
        start: { sheetId, rowIndex: row, columnIndex: column },
        rows: [{ values: [{ userEnteredValue: { stringValue: text } }] }],
        fields: 'userEnteredValue',
      },
    })),
    {
      deleteDuplicates: {
        range: { sheetId, startRowIndex: row, endRowIndex: row + 2, ...columnsOf(found, tables) },
        comparisonColumns: cells.map(({ column }) => ({
          ...{ sheetId, dimension: 'COLUMNS' },
          ...{ startIndex: column, endIndex: column + 1 },
        })),
      },
    },
    { deleteDimension: { range: lines } },
  ]
}

/** The columns of the table that has the row, as cells beside it are of others. All columns without one. */
function columnsOf({ row, cells }: FoundRow, tables: readonly Table[]): object {
  const table = tables.find(
    (one) =>
      row > one.row &&
      row < one.endRow &&
      cells.every(({ column }) => column >= one.column && column < one.column + one.names.length),
  )
  if (!table) return {}
  const { column, names } = table
  return { startColumnIndex: column, endColumnIndex: column + names.length }
}

interface FoundRow {
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
async function searchRows(
  api: SheetsApi,
  wanted: WantedRows,
  signal: AbortSignal,
): Promise<{ readonly sheets: readonly Sheet[]; readonly rows: readonly FoundRow[] }> {
  const sheets = (await listSheets(api, signal)).filter(({ isGrid }) => isGrid)
  const rows: FoundRow[] = []
  const ask = (ranges: readonly string[]) => api.read(fields, signal, ranges)
  let parts = sheets.map((sheet) => partOf(sheet, 0, [0, columnCountIn(sheet) - 1]))
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

function columnCountIn({ tables, columnCount }: Sheet): number {
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
