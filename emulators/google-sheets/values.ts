import type { sheets_v4 } from '@googleapis/sheets'
import { badRequest } from './api-error.ts'
import { findRange, rangeText } from './a1.ts'
import { displayText, unpackCell, type StoredCell } from './cell.ts'
import { rowAt } from './sheet.ts'
import type { SpreadsheetState } from './state.ts'

/** The `values` collection: reading plain values by A1 range. */

export interface ReadOptions {
  readonly majorDimension?: string | undefined
  readonly valueRenderOption?: string | undefined
}

/** The options of a read; an unknown name of one is refused. */
export function readOptions(query: URLSearchParams): ReadOptions {
  const options = {
    majorDimension: choice(query, 'majorDimension', 'Dimension', ['ROWS', 'COLUMNS']),
    valueRenderOption: choice(query, 'valueRenderOption', 'ValueRenderOption', [
      ...['FORMATTED_VALUE', 'UNFORMATTED_VALUE', 'FORMULA'],
    ]),
  }
  choice(query, 'dateTimeRenderOption', 'DateTimeRenderOption', [
    ...['SERIAL_NUMBER', 'FORMATTED_STRING'],
  ])
  return options
}

export function readValues(
  spreadsheet: SpreadsheetState,
  spec: string,
  options: ReadOptions = {},
): sheets_v4.Schema$ValueRange {
  const { sheet, box } = findRange(spreadsheet, spec)
  const rows: unknown[][] = []
  for (let row = box.startRow; row < Math.min(box.endRow, sheet.rows.length); row += 1) {
    const cells = rowAt(sheet, row).slice(box.startColumn, box.endColumn)
    rows.push(cells.map((cell) => renderValue(cell, options.valueRenderOption)))
  }
  const byColumns = options.majorDimension === 'COLUMNS'
  const values = trimmed(byColumns ? transposed(rows) : rows)
  return {
    range: rangeText(sheet.title, box),
    majorDimension: byColumns ? 'COLUMNS' : 'ROWS',
    ...(values.length > 0 ? { values } : {}),
  }
}

function renderValue(cell: StoredCell, option: string | undefined): unknown {
  const value = unpackCell(cell).userEnteredValue
  if (option === 'FORMULA' && value?.formulaValue) return value.formulaValue
  if (option === 'FORMULA' || option === 'UNFORMATTED_VALUE') {
    return value?.numberValue ?? value?.boolValue ?? displayText(cell)
  }
  return displayText(cell)
}

/** Empty cells at the end of a row and empty rows at the end do not appear. */
function trimmed(rows: readonly unknown[][]): unknown[][] {
  const cut = rows.map((row) => row.slice(0, row.findLastIndex((value) => value !== '') + 1))
  return cut.slice(0, cut.findLastIndex((row) => row.length > 0) + 1)
}

function transposed(rows: readonly unknown[][]): unknown[][] {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0)
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? ''))
}

/** A query parameter that has to be one of some names. */
function choice(
  query: URLSearchParams,
  name: string,
  type: string,
  values: readonly string[],
): string | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  if (values.includes(value)) return value
  const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const description = `Invalid value at '${field}' (type.googleapis.com/google.apps.sheets.v4.${type}), "${value}"`
  throw badRequest([{ field, description }])
}
