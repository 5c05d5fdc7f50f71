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
    protectedRanges: [],
    tables: [],
  }
}

export function rowAt(sheet: Sheet, index: number): Row {
  return sheet.rows[index] ?? emptyRow
}

/** Number of rows down to the last one that has a value: where `appendCells` goes on. */
export function dataRowCount(sheet: Sheet): number {
  let count = sheet.rows.length
  while (count > 0 && !rowAt(sheet, count - 1).some(hasValue)) count -= 1
  return count
}

/** Rewrites the cells of a box; `change` gets each stored cell and gives the new one. */
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
    if (changed) writeRow(tx, sheet, row, cells)
  }
}

export function writeRow(tx: Transaction, sheet: Sheet, index: number, row: Row | undefined): void {
  tx.setAt(sheet.rows, index, row)
}

/** Sets the size of the grid; what lies outside afterwards is gone. */
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

export function insertLines(
  tx: Transaction,
  sheet: Sheet,
  dimension: 'ROWS' | 'COLUMNS',
  at: number,
  count: number,
): void {
  const blank: undefined[] = new Array<undefined>(count).fill(undefined)
  if (dimension === 'ROWS') {
    if (at < sheet.rows.length) tx.assign(sheet, 'rows', spliced(sheet.rows, at, 0, blank))
    tx.assign(sheet, 'grid', { ...sheet.grid, rowCount: sheet.grid.rowCount + count })
  } else {
    const rows = sheet.rows.map((row) =>
      row && at < row.length ? spliced(row, at, 0, blank) : row,
    )
    tx.assign(sheet, 'rows', rows)
    tx.assign(sheet, 'grid', { ...sheet.grid, columnCount: sheet.grid.columnCount + count })
  }
  shiftSheetRanges(tx, sheet, { dimension, at, count })
}

export function deleteLines(
  tx: Transaction,
  sheet: Sheet,
  dimension: 'ROWS' | 'COLUMNS',
  at: number,
  count: number,
): void {
  const grid = sheet.grid
  if (dimension === 'ROWS') {
    tx.assign(sheet, 'rows', spliced(sheet.rows, at, count, []))
    const frozen = frozenAfter(grid.frozenRowCount, at, count)
    tx.assign(sheet, 'grid', {
      ...grid,
      rowCount: grid.rowCount - count,
      ...(frozen === undefined ? {} : { frozenRowCount: frozen }),
    })
  } else {
    const rows = sheet.rows.map((row) => row && spliced(row, at, count, []))
    tx.assign(sheet, 'rows', rows)
    const frozen = frozenAfter(grid.frozenColumnCount, at, count)
    tx.assign(sheet, 'grid', {
      ...grid,
      columnCount: grid.columnCount - count,
      ...(frozen === undefined ? {} : { frozenColumnCount: frozen }),
    })
  }
  shiftSheetRanges(tx, sheet, { dimension, at, count: -count })
}

function spliced<T>(list: readonly T[], at: number, gone: number, come: readonly T[]): T[] {
  return [...list.slice(0, at), ...come, ...list.slice(at + gone)]
}

function frozenAfter(frozen: number | undefined, at: number, count: number): number | undefined {
  if (frozen === undefined) return undefined
  return frozen - Math.max(0, Math.min(frozen, at + count) - at)
}

/** Protected ranges and tables move with the cells that they are about. */
function shiftSheetRanges(tx: Transaction, sheet: Sheet, shift: Shift): void {
  tx.assign(
    sheet,
    'protectedRanges',
    sheet.protectedRanges.flatMap((protection) => {
      const range = shiftRange(protection.range ?? {}, shift)
      return range ? [{ ...protection, range }] : []
    }),
  )
  tx.assign(
    sheet,
    'tables',
    sheet.tables.flatMap((table) => {
      const range = shiftRange(table.range, shift)
      return range ? [{ ...table, range }] : []
    }),
  )
}
