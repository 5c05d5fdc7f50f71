import { hasValue } from './cell.ts'
import type { Box } from './grid-range.ts'
import { rowAt } from './sheet.ts'
import type { Sheet } from './state.ts'

/**
 * The block of cells that `values.append` takes for a table: the one that the last value in the
 * searched range belongs to. Blank rows and columns end a block.
 */
export function tableAround(sheet: Sheet, searched: Box): Box | undefined {
  const anchor = lastValue(sheet, searched)
  if (!anchor) return undefined
  let table = anchor
  for (;;) {
    const grown = grow(sheet, table)
    if (grown === table) return table
    table = grown
  }
}

function lastValue(sheet: Sheet, box: Box): Box | undefined {
  for (let row = Math.min(box.endRow, sheet.rows.length) - 1; row >= box.startRow; row -= 1) {
    for (let column = box.startColumn; column < box.endColumn; column += 1) {
      if (filled(sheet, row, column)) {
        return { startRow: row, endRow: row + 1, startColumn: column, endColumn: column + 1 }
      }
    }
  }
  return undefined
}

/** One step larger on each side where a value touches the block, corners included. */
function grow(sheet: Sheet, box: Box): Box {
  const rows = { from: box.startRow - 1, to: box.endRow + 1 }
  const columns = { from: box.startColumn - 1, to: box.endColumn + 1 }
  const inRow = (row: number) => someIn(columns, (column) => filled(sheet, row, column))
  const inColumn = (column: number) => someIn(rows, (row) => filled(sheet, row, column))
  const grown = {
    startRow: inRow(rows.from) ? rows.from : box.startRow,
    endRow: inRow(box.endRow) ? rows.to : box.endRow,
    startColumn: inColumn(columns.from) ? columns.from : box.startColumn,
    endColumn: inColumn(box.endColumn) ? columns.to : box.endColumn,
  }
  const same =
    grown.startRow === box.startRow &&
    grown.endRow === box.endRow &&
    grown.startColumn === box.startColumn &&
    grown.endColumn === box.endColumn
  return same ? box : grown
}

function someIn({ from, to }: { from: number; to: number }, test: (at: number) => boolean) {
  for (let at = from; at < to; at += 1) if (test(at)) return true
  return false
}

function filled(sheet: Sheet, row: number, column: number): boolean {
  return row >= 0 && column >= 0 && hasValue(rowAt(sheet, row)[column], true)
}
