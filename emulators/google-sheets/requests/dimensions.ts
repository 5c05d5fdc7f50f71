import type { sheets_v4 } from '@googleapis/sheets'
import { invalidArgument } from '../api-error.ts'
import {
  assertCellsFit,
  assertEditable,
  assertSheetEditable,
  handler,
  sheetById,
  type Batch,
} from '../batch.ts'
import { resizeGrid, shiftLines } from '../sheet.ts'
import type { Sheet } from '../state.ts'

interface Lines {
  readonly sheet: Sheet
  readonly dimension: 'ROWS' | 'COLUMNS'
  readonly start: number
  readonly end: number
}

const appendDimension = handler('appendDimension', (batch, request) => {
  const sheet = sheetById(batch, request.sheetId)
  const length = request.length ?? 0
  if (length < 1) throw invalidArgument('length must be positive.')
  assertSheetEditable(batch, sheet)
  const { grid } = sheet
  const grown =
    readDimension(request.dimension) === 'ROWS'
      ? { ...grid, rowCount: grid.rowCount + length }
      : { ...grid, columnCount: grid.columnCount + length }
  assertCellsFit(batch, grown.rowCount * grown.columnCount - grid.rowCount * grid.columnCount)
  resizeGrid(batch.tx, sheet, grown)
})

const insertDimension = handler('insertDimension', (batch, request) => {
  const { sheet, dimension, start, end } = readLines(batch, request.range)
  const size = sizeOf(sheet, dimension)
  if (start > size) {
    const line = nounOf(dimension)
    throw invalidArgument(`range.startIndex[${start}] is after last ${line} in grid[${size}]`)
  }
  const across = dimension === 'ROWS' ? sheet.grid.columnCount : sheet.grid.rowCount
  assertCellsFit(batch, (end - start) * across)
  assertLinesEditable(batch, { sheet, dimension, start, end: start + 1 })
  shiftLines(batch.tx, sheet, { dimension, at: start, count: end - start })
})

const deleteDimension = handler('deleteDimension', (batch, request) => {
  const { sheet, dimension, start, end } = readLines(batch, request.range)
  const size = sizeOf(sheet, dimension)
  const line = nounOf(dimension)
  if (end > size) {
    throw invalidArgument(
      `Cannot delete a ${line} that doesn't exist. Tried to delete ${line} index ${end - 1} but there are only ${size} ${line}s.`,
    )
  }
  if (end - start === size) {
    throw invalidArgument(`You can't delete all the ${line}s on the sheet.`)
  }
  const frozen = dimension === 'ROWS' ? sheet.grid.frozenRowCount : 0
  if (frozen > 0 && start <= frozen && end === size) {
    throw invalidArgument(`Sorry, it is not possible to delete all non-frozen ${line}s.`)
  }
  assertLinesEditable(batch, { sheet, dimension, start, end })
  shiftLines(batch.tx, sheet, { dimension, at: start, count: start - end })
})

export const dimensionRequests = [appendDimension, insertDimension, deleteDimension]

function readDimension(dimension: string | null | undefined): 'ROWS' | 'COLUMNS' {
  if (dimension === 'ROWS' || dimension === 'COLUMNS') return dimension
  throw invalidArgument('No dimension was specified.')
}

function readLines(batch: Batch, range: sheets_v4.Schema$DimensionRange | undefined): Lines {
  const sheet = sheetById(batch, range?.sheetId)
  const dimension = readDimension(range?.dimension)
  const start = range?.startIndex ?? 0
  const end = range?.endIndex ?? sizeOf(sheet, dimension)
  if (start < 0 || end <= start) {
    throw invalidArgument(`range.endIndex[${end}] must be greater than range.startIndex[${start}]`)
  }
  return { sheet, dimension, start, end }
}

function assertLinesEditable(batch: Batch, { sheet, dimension, start, end }: Lines): void {
  const { rowCount, columnCount } = sheet.grid
  const box =
    dimension === 'ROWS'
      ? { startRow: start, endRow: end, startColumn: 0, endColumn: columnCount }
      : { startRow: 0, endRow: rowCount, startColumn: start, endColumn: end }
  assertEditable(batch, sheet, box)
}

function sizeOf(sheet: Sheet, dimension: 'ROWS' | 'COLUMNS'): number {
  return dimension === 'ROWS' ? sheet.grid.rowCount : sheet.grid.columnCount
}

function nounOf(dimension: 'ROWS' | 'COLUMNS'): string {
  return dimension === 'ROWS' ? 'row' : 'column'
}
