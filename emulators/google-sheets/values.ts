import type { sheets_v4 } from '@googleapis/sheets'
import { ApiError, badRequest, invalidArgument } from './api-error.ts'
import {
  cellsText,
  columnLetters,
  findRange,
  quoteTitle,
  rangeText,
  type FoundRange,
} from './a1.ts'
import { assertCellsFit, assertEditable, type Batch } from './batch.ts'
import { displayText, packCell, typedCell, unpackCell, type StoredCell } from './cell.ts'
import type { Box } from './grid-range.ts'
import { insertLines, resizeGrid, rowAt, writeBox } from './sheet.ts'
import type { Sheet, SpreadsheetState } from './state.ts'
import { tableAround } from './table.ts'

/** The `values` collection: reading and writing plain values by A1 range. */

export interface ReadOptions {
  readonly majorDimension?: string | undefined
  readonly valueRenderOption?: string | undefined
}

export interface WriteOptions {
  readonly valueInputOption: string | null | undefined
  readonly includeValuesInResponse?: boolean | null | undefined
  readonly responseValueRenderOption?: string | null | undefined
}

export function readValues(
  spreadsheet: SpreadsheetState,
  spec: string,
  options: ReadOptions = {},
): sheets_v4.Schema$ValueRange {
  const { sheet, box } = findRange(spreadsheet, spec)
  return valueRange(sheet, box, options)
}

function valueRange(sheet: Sheet, box: Box, options: ReadOptions): sheets_v4.Schema$ValueRange {
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

/** Writes values from the top left of a range on; a range of several cells must hold them all. */
export function updateValues(
  batch: Batch,
  spec: string,
  body: sheets_v4.Schema$ValueRange,
  options: WriteOptions,
): sheets_v4.Schema$UpdateValuesResponse {
  assertInputOption(options)
  const found = findRange(batch.spreadsheet, spec)
  const { box: target, rows } = targetOf(found, body)
  assertWithin(found, target)
  return writeValues(batch, found.sheet, target, rows, options)
}

interface Target {
  readonly box: Box
  readonly rows: readonly unknown[][]
}

function targetOf({ box }: Pick<FoundRange, 'box'>, body: sheets_v4.Schema$ValueRange): Target {
  const given: unknown[][] = body.values ?? []
  const rows = body.majorDimension === 'COLUMNS' ? transposed(given) : given
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0)
  const { startRow, startColumn } = box
  return {
    rows,
    box: { startRow, endRow: startRow + rows.length, startColumn, endColumn: startColumn + width },
  }
}

function assertWithin({ sheet, asked, box }: FoundRange, target: Box): void {
  const single = asked.endRow - asked.startRow === 1 && asked.endColumn - asked.startColumn === 1
  const endRow = single ? sheet.grid.rowCount : box.endRow
  const endColumn = single ? sheet.grid.columnCount : box.endColumn
  const within = `Requested writing within range [${quoteTitle(sheet.title)}!${cellsText(asked)}]`
  if (target.endRow > endRow) {
    throw invalidArgument(`${within}, but tried writing to row [${endRow + 1}]`)
  }
  if (target.endColumn > endColumn) {
    throw invalidArgument(`${within}, but tried writing to column [${columnLetters(endColumn)}]`)
  }
}

function writeValues(
  batch: Batch,
  sheet: Sheet,
  target: Box,
  rows: readonly unknown[][],
  options: WriteOptions,
): sheets_v4.Schema$UpdateValuesResponse {
  assertEditable(batch, sheet, target)
  let cells = 0
  writeBox(batch.tx, sheet, target, (cell, row, column) => {
    const value = rows[row - target.startRow]?.[column - target.startColumn]
    // A null, and a place that a short row does not reach, leave the cell as it is.
    if (value === undefined || value === null) return cell
    cells += 1
    const { userEnteredValue: _, ...rest } = unpackCell(cell)
    return packCell({ ...rest, ...unpackCell(storedValue(value, options.valueInputOption)) })
  })
  const render = { valueRenderOption: options.responseValueRenderOption ?? undefined }
  const width = target.endColumn - target.startColumn
  const empty = rows.length === 0 || width === 0
  return {
    spreadsheetId: batch.spreadsheet.id,
    updatedRange: rangeText(sheet.title, empty ? cornerOf(target) : target),
    ...(empty ? {} : { updatedRows: rows.length, updatedColumns: width, updatedCells: cells }),
    ...(options.includeValuesInResponse ? { updatedData: valueRange(sheet, target, render) } : {}),
  }
}

function cornerOf({ startRow, startColumn }: Box): Box {
  return { startRow, endRow: startRow + 1, startColumn, endColumn: startColumn + 1 }
}

function storedValue(value: unknown, inputOption: string | null | undefined): StoredCell {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'string') throw invalidArgument('Values must be text, numbers or booleans.')
  if (inputOption === 'USER_ENTERED') return typedCell(value)
  return value === '' ? undefined : value
}

function assertInputOption({ valueInputOption }: WriteOptions): void {
  if (valueInputOption === 'RAW' || valueInputOption === 'USER_ENTERED') return
  throw invalidArgument("'valueInputOption' is required but not specified")
}

/** Several updates in one call, all or none. */
export function batchUpdateValues(
  batch: Batch,
  body: sheets_v4.Schema$BatchUpdateValuesRequest,
): sheets_v4.Schema$BatchUpdateValuesResponse {
  const options = { ...body, valueInputOption: body.valueInputOption }
  const rows = new Set<string>()
  const columns = new Set<string>()
  const sheets = new Set<number>()
  const responses = (body.data ?? []).map((data, index) => {
    const response = inData(index, () => updateValues(batch, data.range ?? '', data, options))
    const { sheet, box } = findRange(batch.spreadsheet, response.updatedRange ?? '')
    sheets.add(sheet.sheetId)
    for (let row = box.startRow; row < box.endRow; row += 1) rows.add(`${sheet.sheetId}:${row}`)
    for (let column = box.startColumn; column < box.endColumn; column += 1) {
      columns.add(`${sheet.sheetId}:${column}`)
    }
    return response
  })
  return {
    spreadsheetId: batch.spreadsheet.id,
    totalUpdatedRows: rows.size,
    totalUpdatedColumns: columns.size,
    totalUpdatedCells: responses.reduce((sum, each) => sum + (each.updatedCells ?? 0), 0),
    totalUpdatedSheets: sheets.size,
    responses,
  }
}

function inData<T>(index: number, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof ApiError ? error.prefixed(`Invalid data[${index}]: `) : error
  }
}

/** Below the table that the range touches, from the table's first column on. */
export function appendValues(
  batch: Batch,
  spec: string,
  body: sheets_v4.Schema$ValueRange,
  options: WriteOptions & { readonly insertDataOption?: string | undefined },
): sheets_v4.Schema$AppendValuesResponse {
  assertInputOption(options)
  const { tx, spreadsheet } = batch
  const { sheet, box } = findRange(spreadsheet, spec)
  const table = tableAround(sheet, box)
  const start = table ? { startRow: table.endRow, startColumn: table.startColumn } : box
  const { box: target, rows } = targetOf({ box: { ...box, ...start } }, body)
  if (options.insertDataOption === 'INSERT_ROWS' && target.startRow < sheet.grid.rowCount) {
    assertCellsFit(batch, rows.length * sheet.grid.columnCount)
    if (rows.length > 0) insertLines(tx, sheet, 'ROWS', target.startRow, rows.length)
  }
  const { rowCount, columnCount } = sheet.grid
  const grid = {
    ...sheet.grid,
    rowCount: Math.max(rowCount, target.endRow),
    columnCount: Math.max(columnCount, target.endColumn),
  }
  assertCellsFit(batch, grid.rowCount * grid.columnCount - rowCount * columnCount)
  resizeGrid(tx, sheet, grid)
  return {
    spreadsheetId: spreadsheet.id,
    ...(table ? { tableRange: rangeText(sheet.title, table) } : {}),
    updates: writeValues(batch, sheet, target, rows, options),
  }
}

/** Clears values; formats and notes stay. Returns the range as it was understood. */
export function clearValues(batch: Batch, spec: string): string {
  const { sheet, box } = findRange(batch.spreadsheet, spec)
  assertEditable(batch, sheet, box)
  const used = { ...box, endRow: Math.min(box.endRow, sheet.rows.length) }
  writeBox(batch.tx, sheet, used, (cell) => {
    const { userEnteredValue: _, ...rest } = unpackCell(cell)
    return packCell(rest)
  })
  return rangeText(sheet.title, box)
}

/** A query parameter that has to be one of some names. */
export function enumParameter(
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
