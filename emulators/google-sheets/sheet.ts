import type { sheets_v4 } from '@googleapis/sheets'
import { hasValue, type Row, type StoredCell } from './cell.ts'
import { shiftRange, type Box, type Shift } from './grid-range.ts'
import type { Grid, Sheet } from './state.ts'
import type { Transaction } from './transaction.ts'

/** Reading and changing the grid of one sheet. All changes go through a transaction. */

const emptyRow: Row = []

export function newSheet(sheetId: number, title: string, grid: Grid): Sheet {
  return {
    sheetId,
    title,
    hidden: false,
    grid,
    rows: [],
    protections: [],
    tables: [],
  }
}

export function rowAt(sheet: Sheet, index: number): Row {
  return sheet.rows[index] ?? emptyRow
}

/** The number of rows down to the last one with a value. `appendCells` continues below it. */
export function dataRowCount(sheet: Sheet): number {
  let count = sheet.rows.length
  while (count > 0 && !rowAt(sheet, count - 1).some(hasValue)) count -= 1
  return count
}

/** Rewrites the cells of a box. `change` gets each cell and returns the new one. */
export function writeBox(
  tx: Transaction,
  sheet: Sheet,
  box: Box,
  change: (cell: StoredCell, row: number, column: number) => StoredCell,
): void {
  for (let row = box.startRow; row < box.endRow; row += 1) {
    const cells = [...rowAt(sheet, row)]
    let changed = false
    for (let column = box.startColumn; column < box.endColumn; column += 1) {
      const cell = change(cells[column], row, column)
      if (cell === cells[column]) continue
      while (cells.length < column) cells.push(undefined)
      cells[column] = cell
      changed = true
    }
    if (changed) tx.setAt(sheet.rows, row, cells)
  }
}

/** Sets the size of the grid and drops the cells outside. */
export function resizeGrid(tx: Transaction, sheet: Sheet, grid: Grid): void {
  if (grid.rowCount < sheet.rows.length) {
    tx.assign(sheet, 'rows', sheet.rows.slice(0, grid.rowCount))
  }
  if (grid.columnCount < sheet.grid.columnCount) {
    tx.assign(
      sheet,
      'rows',
      sheet.rows.map((row) => row?.slice(0, grid.columnCount)),
    )
  }
  tx.assign(sheet, 'grid', grid)
}

/** Inserts empty rows or columns, or deletes some. Protections and tables move with their cells. */
export function shiftLines(tx: Transaction, sheet: Sheet, shift: Shift): void {
  const { rows, grid } = sheet
  if (shift.dimension === 'ROWS') {
    const frozen = grid.frozenRowCount
    // A frozen row that is deleted is frozen no more. Rows that come in are not frozen.
    const lost = shift.count < 0 ? Math.max(0, Math.min(-shift.count, frozen - shift.at)) : 0
    tx.assign(sheet, 'rows', spliced(rows, shift))
    const rowCount = grid.rowCount + shift.count
    tx.assign(sheet, 'grid', { ...grid, rowCount, frozenRowCount: frozen - lost })
  } else {
    tx.assign(
      sheet,
      'rows',
      rows.map((row) => row && spliced(row, shift)),
    )
    tx.assign(sheet, 'grid', { ...grid, columnCount: grid.columnCount + shift.count })
  }
  tx.assign(sheet, 'protections', shifted(sheet.protections, shift))
  tx.assign(sheet, 'tables', shifted(sheet.tables, shift))
}

/** Inserts or deletes elements. Elements beyond the end of a list are empty. */
function spliced<T>(list: readonly (T | undefined)[], { at, count }: Shift): (T | undefined)[] {
  if (at >= list.length) return [...list]
  const come = new Array<undefined>(Math.max(0, count)).fill(undefined)
  return [...list.slice(0, at), ...come, ...list.slice(at + Math.max(0, -count))]
}

function shifted<T extends { readonly range: sheets_v4.Schema$GridRange }>(
  areas: readonly T[],
  shift: Shift,
): readonly T[] {
  return areas.flatMap((area) => {
    const range = shiftRange(area.range, shift)
    return range ? [{ ...area, range }] : []
  })
}
