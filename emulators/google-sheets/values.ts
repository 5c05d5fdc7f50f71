import type { sheets_v4 } from '@googleapis/sheets'
import { findRange, rangeText } from './a1.ts'
import { notEmulated } from './api-error.ts'
import { displayText, unpackCell, type StoredCell } from './cell.ts'
import { rowAt } from './sheet.ts'
import type { SpreadsheetState } from './state.ts'

/** Reads the plain values of an A1 range, as text or, with `UNFORMATTED_VALUE`, as they are stored. */
export function readValues(
  spreadsheet: SpreadsheetState,
  spec: string,
  query = new URLSearchParams(),
): sheets_v4.Schema$ValueRange {
  const option = query.get('valueRenderOption') ?? 'FORMATTED_VALUE'
  const render = renderers.get(option)
  if (!render) throw notEmulated(`the valueRenderOption ${option}`)
  const { sheet, box } = findRange(spreadsheet, spec)
  const rows: unknown[][] = []
  for (let row = box.startRow; row < Math.min(box.endRow, sheet.rows.length); row += 1) {
    rows.push(rowAt(sheet, row).slice(box.startColumn, box.endColumn).map(render))
  }
  const values = trimmed(rows)
  return {
    range: rangeText(sheet.title, box),
    majorDimension: 'ROWS',
    ...(values.length > 0 ? { values } : {}),
  }
}

const renderers = new Map<string, (cell: StoredCell) => unknown>([
  ['FORMATTED_VALUE', displayText],
  [
    'UNFORMATTED_VALUE',
    (cell) => {
      const value = unpackCell(cell).userEnteredValue
      return value?.numberValue ?? value?.boolValue ?? displayText(cell)
    },
  ],
])

/** Google leaves out empty cells at the end of a row and empty rows at the end. */
function trimmed(rows: readonly unknown[][]): unknown[][] {
  const cut = rows.map((row) => row.slice(0, row.findLastIndex((value) => value !== '') + 1))
  return cut.slice(0, cut.findLastIndex((row) => row.length > 0) + 1)
}
