import type { sheets_v4 } from '@googleapis/sheets'
import { invalidArgument } from './api-error.ts'
import { assertCellsFit, assertEditable, type Batch } from './batch.ts'
import { displayText, hasValue, unpackCell, writeCell, type StoredCell } from './cell.ts'
import type { FieldMask } from './field-mask.ts'
import { boxOf, renderRange } from './grid-range.ts'
import { rowAt, shiftLines, writeBox } from './sheet.ts'
import type { Sheet, Table } from './state.ts'

/** Google's tables: appending rows to them, and showing them in answers. */

export function findTable({ spreadsheet }: Batch, tableId: string) {
  for (const sheet of spreadsheet.sheets) {
    const table = sheet.tables.find((candidate) => candidate.tableId === tableId)
    if (table) return { sheet, table }
  }
  throw invalidArgument(`No table with id: ${tableId}`)
}

/** Writes below the last full row of the table's body, and moves the rows below down, the footer included. */
export function appendToTable(
  batch: Batch,
  { sheet, table }: { readonly sheet: Sheet; readonly table: Table },
  rows: readonly sheets_v4.Schema$RowData[],
  mask: FieldMask,
): void {
  const { startRow, endRow, startColumn, endColumn } = boxOf(table.range, sheet.grid)
  const bodyEnd = endRow - table.footerRows
  let start = bodyEnd
  // For a table, an empty checkbox is no value.
  const isFull = (row: number) =>
    rowAt(sheet, row)
      .slice(startColumn, endColumn)
      .some((cell) => hasValue(cell) && !isUnchecked(cell))
  while (start > startRow + 1 && !isFull(start - 1)) start -= 1
  const missing = Math.max(0, start + rows.length - bodyEnd)
  if (missing > 0) {
    assertCellsFit(batch, missing * sheet.grid.columnCount)
    shiftLines(batch.tx, sheet, { dimension: 'ROWS', at: bodyEnd, count: missing })
    const range = { ...table.range, endRowIndex: endRow + missing }
    const grown = sheet.tables.map((one) =>
      one.tableId === table.tableId ? { ...one, range } : one,
    )
    batch.tx.assign(sheet, 'tables', grown)
  }
  const box = { startRow: start, endRow: start + rows.length, startColumn, endColumn }
  assertEditable(batch, sheet, box)
  writeBox(batch.tx, sheet, box, (cell, row, column) =>
    writeCell(cell, rows[row - start]?.values?.[column - startColumn] ?? {}, mask),
  )
}

function isUnchecked(cell: StoredCell): boolean {
  return unpackCell(cell).userEnteredValue?.boolValue === false
}

/** The header cells are the names of the columns. Google's JSON leaves out an index of 0. */
export function renderTable(sheet: Sheet, table: Table): sheets_v4.Schema$Table {
  const { startRow, startColumn, endColumn } = boxOf(table.range, sheet.grid)
  const columnProperties = Array.from({ length: endColumn - startColumn }, (_, index) => {
    const columnName = displayText(rowAt(sheet, startRow)[startColumn + index])
    const columnType = table.types[columnName]
    return {
      ...(index > 0 ? { columnIndex: index } : {}),
      columnName,
      ...(columnType === undefined ? {} : { columnType }),
    }
  })
  const { tableId, name, range } = table
  return { tableId, name, range: renderRange(range), columnProperties }
}
