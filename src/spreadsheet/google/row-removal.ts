import type { Removed, RowToRemove } from '../spreadsheet.ts'
import { hasTimestamp, type RowTexts, WantedRows } from '../wanted-rows.ts'
import type { Sheet, Table } from './sheets.ts'
import { isRangeRefused, ReadFailed, type SheetsApi } from './sheets-api.ts'
import { shownCell } from '../csv.ts'
import { readHeader } from '../header.ts'
import { keyColumns } from '../row-key.ts'
import type { Cell } from '../../signup/row.ts'
import { isRecord } from '../../signup/json.ts'
import { fieldIn, listIn, numberIn } from './answer.ts'
import { listSheets, type Part, rangeOf, readFirstOf, rowsIn } from './sheet-parts.ts'

/** That is 500 requests and more, and Google ends a call that takes it three minutes. */
const rowsPerCall = 100

/**
 * Removes rows after a search, a hundred of a tab with one call. Nothing rests on where the search has seen a row: people
 * sort, insert and delete at any time, and the call may be applied late or twice. So each row is removed
 * by four requests of one atomic call:
 *
 * 1. `insertDimension` inserts an empty row where the row was seen, which moves that one down.
 * 2. `updateCells` writes the address and the timestamp into it, or all cells where another row has the same.
 * 3. `deleteDuplicates` compares these cells of the two rows, and removes the lower row only when
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
  const wanted = new WantedRows<ReadRow>(rows)
  const sheets = await searchRows(api, wanted, signal)
  const { going, standing } = wanted.decided()
  const found = Array.from(going, ([row, texts]) => foundRow(row, texts))
  let failure: Removed['failure']
  // A tab that is protected holds no other back.
  for (const sheet of sheets) {
    const here = found.filter(({ sheetId }) => sheetId === sheet.sheetId)
    for (const requests of requestsFor(here, sheet)) {
      // The replies are of no use: only a new search shows that no copy is left.
      const path = ':batchUpdate?fields=spreadsheetId'
      const body = JSON.stringify({ requests })
      const answer = await api.call({ method: 'POST', path, body }, signal)
      if (answer.kind === 'ok') continue
      failure = answer
      break
    }
  }
  return { kind: 'removed', standing, ...(failure && { failure }) }
}

/**
 * The requests of each call that remove these rows, from the last one up, as rows below a removed one may move:
 * so the rows of the next call still are where they were seen.
 */
function requestsFor(found: readonly FoundRow[], sheet: Sheet): readonly (readonly object[])[] {
  const { sheetId, rowCount } = sheet
  const rows = found.toSorted((one, other) => other.row - one.row)
  // Google does not delete the last row below frozen rows.
  const isShort = rowCount <= rows.length + frozenRowsMax
  const growth = { appendDimension: { sheetId, dimension: 'ROWS', length: 1 } }
  return Array.from({ length: Math.ceil(rows.length / rowsPerCall) }, (_, call) => [
    ...(isShort && call === 0 ? [growth] : []),
    ...rows
      .slice(call * rowsPerCall, (call + 1) * rowsPerCall)
      .flatMap((row) => removeOne(row, sheet)),
  ])
}

/** More frozen rows than anybody has in a sheet that is full of rows to remove. */
const frozenRowsMax = 5

function removeOne(found: FoundRow, sheet: Sheet): readonly object[] {
  const { sheetId, row, key, others } = found
  const lines = { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + 1 }
  const table = tableOf(found, sheet.tables)
  const [from, to] = table ?? [0, columnCountIn(sheet)]
  const cells = [...key, ...(others ?? []).filter(({ column }) => column >= from && column < to)]
  const compared = others ? [[from, to]] : key.map(({ column }) => [column, column + 1])
  return [
    { insertDimension: { range: lines, inheritFromBefore: false } },
    ...cells.map(({ column, value }) => ({
      updateCells: {
        start: { sheetId, rowIndex: row, columnIndex: column },
        rows: [{ values: [{ userEnteredValue: value }] }],
        fields: 'userEnteredValue',
      },
    })),
    {
      deleteDuplicates: {
        range: {
          ...{ sheetId, startRowIndex: row, endRowIndex: row + 2 },
          ...(table && { startColumnIndex: from, endColumnIndex: to }),
        },
        comparisonColumns: compared.map(([startIndex, endIndex]) => ({
          ...{ sheetId, dimension: 'COLUMNS', startIndex, endIndex },
        })),
      },
    },
    { deleteDimension: { range: lines } },
  ]
}

/** The columns of the table that has the row, as cells beside it are of others. */
function tableOf(
  { row, key }: FoundRow,
  tables: readonly Table[],
): readonly [number, number] | undefined {
  const table = tables.find(
    (one) =>
      row > one.row &&
      row < one.endRow &&
      key.every(({ column }) => column >= one.column && column < one.column + one.names.length),
  )
  return table && [table.column, table.column + table.names.length]
}

interface FoundRow extends Pick<ReadRow, 'sheetId' | 'row'> {
  /** The cells that name it: its address, and the cell that has its timestamp. */
  readonly key: readonly PlacedCell[]
  /** The others, where the cells of `key` do not tell it from another row. */
  readonly others: readonly PlacedCell[] | undefined
}

interface PlacedCell {
  readonly column: number
  /** As Google has it. */
  readonly value: unknown
}

/** Bounds of one answer, which must stay under 16 MiB. Metadata may have 10,000 characters. */
const cellsPerCall = { ofAllColumns: 26_000, ofFewColumns: 100_000 }
const fewColumns = 3
/** How many rows are looked at before other work gets its turn. */
const rowsPerTurn = 500
/** Columns after these are searched only when the header row or a table has them. */
const columnsMax = 26

const fields =
  'sheets(properties(sheetId),data(startRow,startColumn,rowData(values(effectiveValue))))'

/**
 * Finds rows in all tabs, whatever their names and the order of their columns: the rows with a cell that
 * is the address, letter case aside, and another cell that has the timestamp.
 *
 * @throws ReadFailed
 */
async function searchRows(
  api: SheetsApi,
  wanted: WantedRows<ReadRow>,
  signal: AbortSignal,
): Promise<readonly Sheet[]> {
  const sheets = (await listSheets(api, signal)).filter(({ isGrid }) => isGrid)
  const ask = (ranges: readonly string[]) => api.read(fields, signal, ranges)
  let parts = sheets.map((sheet) => partOf(sheet, 0, [0, columnCountIn(sheet) - 1]))
  while (parts.length > 0) {
    try {
      const { read, answer } = await readFirstOf(parts, (part) => [rangeOf(part)], ask)
      const found = readRows(answer)
      for (const [at, row] of found.entries()) {
        takeIn(row, wanted)
        if (at % rowsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      const next = read.flatMap((part) => following(part, found, wanted))
      parts = [...next, ...parts.slice(read.length)]
    } catch (error) {
      if (!isRangeRefused(error)) throw error
      const why = 'a tab was changed just now, or Google cannot read its title: rename it then'
      const message = `${error.message}: ${why}`
      throw new ReadFailed({ kind: 'retryable', message, afterMs: 0 })
    }
  }
  return sheets
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
function following(
  part: Part,
  read: readonly ReadRow[],
  wanted: WantedRows<ReadRow>,
): readonly Part[] {
  const { sheet } = part
  const row = part.row + rowsIn(part)
  if (row >= sheet.rowCount) return []
  // The rows of a table need not have the columns that the first row names.
  if (part.row > 0 || sheet.tables.length > 0) return [{ ...part, row }]
  const head = read.find((one) => one.sheetId === sheet.sheetId && one.row === 0)
  const header = readHeader(head?.texts ?? [])
  const columns = keyColumns(header)
  // In a long tab with a header row, only the columns from Email to Timestamp are read below.
  const isKnown = header.kind !== 'none' && columns.length === 2 && !wanted.haveSpared
  return [isKnown ? partOf(sheet, row, columns) : { ...part, row }]
}

interface ReadRow {
  readonly sheetId: number
  /** Its index in the sheet, from 0, at the moment of the search. */
  readonly row: number
  readonly firstColumn: number
  /** As Google has them. */
  readonly values: readonly unknown[]
  /** Their texts. */
  readonly texts: readonly string[]
}

function readRows(spreadsheet: unknown): readonly ReadRow[] {
  return listIn(spreadsheet, 'sheets').flatMap((sheet) => {
    const sheetId = numberIn(sheet, 'properties', 'sheetId')
    return listIn(sheet, 'data').flatMap((part) => {
      const [startRow, firstColumn] = [numberIn(part, 'startRow'), numberIn(part, 'startColumn')]
      return listIn(part, 'rowData').map((line, index) => {
        const values = listIn(line, 'values').map((cell) => fieldIn(cell, 'effectiveValue'))
        const row = startRow + index
        return { sheetId, row, firstColumn, values, texts: values.map(textIn) }
      })
    })
  })
}

/** The text of a cell of any kind. */
function textIn(value: unknown): string {
  const [text = ''] = isRecord(value) ? Object.values(value) : []
  return typeof text === 'object' ? '' : shownCell(text as Cell)
}

function isAddress(text: string, address: string): boolean {
  return text.trim().toLowerCase() === address
}

/** Takes the row in, if it may be one of those to remove. */
function takeIn(row: ReadRow, wanted: WantedRows<ReadRow>): void {
  const { texts } = row
  const addresses = texts.flatMap((text) => (text.includes('@') ? [text.trim().toLowerCase()] : []))
  if (addresses.length > 0) wanted.take(row, [{ cells: texts, addresses }])
}

function foundRow({ sheetId, row, firstColumn, values, texts }: ReadRow, by: RowTexts): FoundRow {
  const places = [
    texts.findIndex((text) => isAddress(text, by.address)),
    texts.findIndex((text) => hasTimestamp(text, by.timestamp)),
  ]
  const cells = values.map((value, at) => ({ column: firstColumn + at, value }))
  const others = cells.filter(({ value }, at) => value !== undefined && !places.includes(at))
  return {
    ...{ sheetId, row, key: cells.filter((_, at) => places.includes(at)) },
    others: by.spared.length === 0 ? undefined : others,
  }
}
