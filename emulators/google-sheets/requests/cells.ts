import type { sheets_v4 } from '@googleapis/sheets'
import { rangeText } from '../a1.ts'
import { invalidArgument } from '../api-error.ts'
import { assertCellsFit, assertEditable, handler, sheetById, updateMask } from '../batch.ts'
import { writeCell } from '../cell.ts'
import type { FieldMask } from '../field-mask.ts'
import type { Box } from '../grid-range.ts'
import { cellData } from '../schema-requests.ts'
import { dataRowCount, resizeGrid, writeBox } from '../sheet.ts'
import type { Sheet } from '../state.ts'
import { appendToTable, findTable } from '../tables.ts'
import type { Transaction } from '../transaction.ts'

/** Appends to a table, or from column A on below the last row with a value. The grid grows as needed. */
const appendCells = handler('appendCells', (batch, request) => {
  const mask = updateMask(request.fields, cellData)
  const rows = request.rows ?? []
  if (request.tableId) {
    appendToTable(batch, findTable(batch, request.tableId), rows, mask)
    return undefined
  }
  const sheet = sheetById(batch, request.sheetId)
  const box = boxFrom(dataRowCount(sheet), 0, rows)
  if (box.endColumn > sheet.grid.columnCount) throw exceedsGrid(sheet, box)
  const missing = Math.max(0, box.endRow - sheet.grid.rowCount)
  assertCellsFit(batch, missing * sheet.grid.columnCount)
  assertEditable(batch, sheet, box)
  if (missing > 0) resizeGrid(batch.tx, sheet, { ...sheet.grid, rowCount: box.endRow })
  writeRows(batch.tx, sheet, box, rows, mask)
  return undefined
})

/** Cells that a short row does not reach stay as they are. */
const updateCells = handler('updateCells', (batch, { start, rows = [], fields }) => {
  const mask = updateMask(fields, cellData)
  const sheet = sheetById(batch, start?.sheetId)
  const box = boxFrom(start?.rowIndex ?? 0, start?.columnIndex ?? 0, rows)
  if (box.endRow > sheet.grid.rowCount || box.endColumn > sheet.grid.columnCount) {
    throw exceedsGrid(sheet, box)
  }
  assertEditable(batch, sheet, box)
  writeRows(batch.tx, sheet, box, rows, mask)
  return undefined
})

export const cellRequests = [appendCells, updateCells]

function boxFrom(
  startRow: number,
  startColumn: number,
  rows: readonly sheets_v4.Schema$RowData[],
): Box {
  const width = rows.reduce((widest, { values = [] }) => Math.max(widest, values.length), 0)
  return { startRow, endRow: startRow + rows.length, startColumn, endColumn: startColumn + width }
}

function writeRows(
  tx: Transaction,
  sheet: Sheet,
  box: Box,
  rows: readonly sheets_v4.Schema$RowData[],
  mask: FieldMask,
): void {
  writeBox(tx, sheet, box, (cell, row, column) => {
    const data = rows[row - box.startRow]?.values?.[column - box.startColumn]
    return data ? writeCell(cell, data, mask) : cell
  })
}

function exceedsGrid(sheet: Sheet, box: Box): Error {
  const { rowCount, columnCount } = sheet.grid
  return invalidArgument(
    `Range (${rangeText(sheet.title, box)}) exceeds grid limits. Max rows: ${rowCount}, max columns: ${columnCount}`,
  )
}
