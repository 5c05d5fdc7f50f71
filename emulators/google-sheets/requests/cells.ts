import { invalidArgument } from '../api-error.ts'
import { rangeText } from '../a1.ts'
import { assertCellsFit, assertEditable, handler, sheetById, updateMask } from '../batch.ts'
import { writeCell, type Row, type StoredCell } from '../cell.ts'
import { boxOf, type Box } from '../grid-range.ts'
import { cellData } from '../schema-types.ts'
import { dataRowCount, resizeGrid, rowAt, writeBox, writeRow } from '../sheet.ts'
import type { Sheet } from '../state.ts'
import { compareCells } from '../cell-order.ts'
import { appendToTable, findTable } from '../tables.ts'

/** Into a table, or always from column A, below the last row that has a value; the grid grows by what is missing. */
const appendCells = handler('appendCells', (batch, request) => {
  const { tx } = batch
  const mask = updateMask(request.fields, cellData)
  const rows = request.rows ?? []
  if (request.tableId) {
    appendToTable(batch, findTable(batch, request.tableId), rows, mask)
    return undefined
  }
  const sheet = sheetById(batch, request.sheetId)
  const start = dataRowCount(sheet)
  const width = rows.reduce((widest, row) => Math.max(widest, row.values?.length ?? 0), 0)
  const box = { startRow: start, endRow: start + rows.length, startColumn: 0, endColumn: width }
  if (width > sheet.grid.columnCount) throw exceedsGrid(sheet, box)
  const missing = Math.max(0, box.endRow - sheet.grid.rowCount)
  assertCellsFit(batch, missing * sheet.grid.columnCount)
  assertEditable(batch, sheet, box)
  if (missing > 0) resizeGrid(tx, sheet, { ...sheet.grid, rowCount: box.endRow })
  rows.forEach(({ values = [] }, index) => {
    const old = rowAt(sheet, start + index)
    const written = values.map((data, column) => writeCell(old[column], data, mask))
    const row: Row =
      old.length > written.length ? [...written, ...old.slice(written.length)] : written
    writeRow(tx, sheet, start + index, row)
  })
  return undefined
})

const updateCells = handler('updateCells', (batch, request) => {
  const mask = updateMask(request.fields, cellData)
  const rows = request.rows ?? []
  const { range, start } = request
  const sheet = sheetById(batch, range?.sheetId ?? start?.sheetId)
  const width = rows.reduce((widest, row) => Math.max(widest, row.values?.length ?? 0), 0)
  const startRow = range ? (range.startRowIndex ?? 0) : (start?.rowIndex ?? 0)
  const startColumn = range ? (range.startColumnIndex ?? 0) : (start?.columnIndex ?? 0)
  const covered = {
    startRow,
    endRow: startRow + rows.length,
    startColumn,
    endColumn: startColumn + width,
  }
  const box = range ? boxOf(range, sheet.grid) : covered
  if (covered.endRow > sheet.grid.rowCount || covered.endColumn > sheet.grid.columnCount) {
    throw exceedsGrid(sheet, covered)
  }
  if (covered.endRow > box.endRow) {
    throw beyondRange('row', covered.endRow - 1, box.endRow - 1)
  }
  if (covered.endColumn > box.endColumn) {
    throw beyondRange('column', covered.endColumn - 1, box.endColumn - 1)
  }
  assertEditable(batch, sheet, box)
  writeBox(batch.tx, sheet, box, (cell, row, column) => {
    const data = rows[row - startRow]?.values?.[column - startColumn]
    // Without a range, cells that a short row does not reach are left alone.
    return data || range ? writeCell(cell, data ?? {}, mask) : cell
  })
})

const sortRange = handler('sortRange', (batch, request) => {
  const sheet = sheetById(batch, request.range?.sheetId)
  const box = boxOf(request.range ?? {}, sheet.grid)
  assertEditable(batch, sheet, box)
  const specs = (request.sortSpecs ?? []).map(({ dimensionIndex, sortOrder }) => ({
    column: (dimensionIndex ?? 0) - box.startColumn,
    descending: sortOrder === 'DESCENDING',
  }))
  const slices = readBox(sheet, box)
  slices.sort((left, right) => {
    for (const { column, descending } of specs) {
      const order = compareCells(left[column], right[column], descending)
      if (order !== 0) return order
    }
    return 0
  })
  writeBox(
    batch.tx,
    sheet,
    box,
    (_, row, column) => slices[row - box.startRow]?.[column - box.startColumn],
  )
})

export const cellRequests = [appendCells, updateCells, sortRange]

function readBox(sheet: Sheet, box: Box): StoredCell[][] {
  const slices: StoredCell[][] = []
  for (let row = box.startRow; row < box.endRow; row += 1) {
    slices.push(rowAt(sheet, row).slice(box.startColumn, box.endColumn))
  }
  return slices
}

function exceedsGrid(sheet: Sheet, box: Box): Error {
  const { rowCount, columnCount } = sheet.grid
  return invalidArgument(
    `Range (${rangeText(sheet.title, box)}) exceeds grid limits. Max rows: ${rowCount}, max columns: ${columnCount}`,
  )
}

function beyondRange(line: 'row' | 'column', tried: number, last: number): Error {
  return invalidArgument(
    `Attempting to write ${line}: ${tried}, beyond the last requested ${line} of: ${last}`,
  )
}
