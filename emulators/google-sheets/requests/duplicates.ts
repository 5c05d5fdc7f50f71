import type { sheets_v4 } from '@googleapis/sheets'
import { assertEditable, handler, sheetById } from '../batch.ts'
import { displayText, type StoredCell } from '../cell.ts'
import { boxOf, type Box } from '../grid-range.ts'
import { rowAt, shiftLines, writeBox } from '../sheet.ts'
import type { Sheet } from '../state.ts'

/**
 * Removes rows of a range whose compared cells, letter case aside, are those of a row above. Google does
 * not document what becomes of their places: see the switch `removedDuplicates`.
 */
const deleteDuplicates = handler('deleteDuplicates', (batch, request) => {
  const { range = {}, comparisonColumns = [] } = request
  const sheet = sheetById(batch, range.sheetId)
  const box = boxOf(range, sheet.grid)
  assertEditable(batch, sheet, box)
  const compared = columnsOf(comparisonColumns, box)
  const seen = new Set<string>()
  const [kept, removed]: [number[], number[]] = [[], []]
  for (let row = box.startRow; row < box.endRow; row += 1) {
    const cells = rowAt(sheet, row)
    const key = JSON.stringify(compared.map((column) => displayText(cells[column]).toLowerCase()))
    if (seen.has(key)) removed.push(row)
    else kept.push(row)
    seen.add(key)
  }
  if (removed.length > 0) {
    // A row of the sheet can only go with all its cells.
    if (batch.options.removedDuplicates === 'shift cells up' || !isWhole(sheet, box)) {
      const keptCells = kept.map((row) => rowAt(sheet, row))
      const change = (_: StoredCell, row: number, column: number) =>
        keptCells[row - box.startRow]?.[column]
      writeBox(batch.tx, sheet, box, change)
    } else {
      for (const at of removed.reverse()) {
        shiftLines(batch.tx, sheet, { dimension: 'ROWS', at, count: -1 })
      }
    }
  }
  return { deleteDuplicates: removed.length > 0 ? { duplicatesRemovedCount: removed.length } : {} }
})

export const duplicateRequests = [deleteDuplicates]

function columnsOf(ranges: readonly sheets_v4.Schema$DimensionRange[], box: Box): number[] {
  const all = Array.from({ length: box.endColumn }, (_, column) => column)
  const isIn = (column: number) =>
    ranges.length === 0 ||
    ranges.some(
      ({ startIndex, endIndex }) => column >= (startIndex ?? 0) && column < (endIndex ?? Infinity),
    )
  return all.filter((column) => column >= box.startColumn && isIn(column))
}

function isWhole({ grid }: Sheet, { startColumn, endColumn }: Box): boolean {
  return startColumn === 0 && endColumn === grid.columnCount
}
