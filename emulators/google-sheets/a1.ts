import { invalidArgument } from './api-error.ts'
import type { Box } from './grid-range.ts'
import type { Sheet, SpreadsheetState } from './state.ts'

/** A range in A1 notation that was found in a spreadsheet: the part of it inside the grid. */
export interface FoundRange {
  readonly sheet: Sheet
  readonly box: Box
}

/** Finds a range such as `'A tab'`, `'A tab'!A1:B2`, `'A tab'!A5:C` or `'A tab'!B2`. */
export function findRange(spreadsheet: SpreadsheetState, spec: string): FoundRange {
  const [, quoted = '', cells = 'A1:'] = /^'((?:[^']|'')*)'(?:!(.+[^:]))?$/su.exec(spec) ?? []
  const sheet = sheetByTitle(spreadsheet, quoted.replaceAll("''", "'"))
  const asked = sheet && boxOfCells(sheet, cells)
  if (!asked) throw invalidArgument(`Unable to parse range: ${spec}`)
  const { rowCount, columnCount } = sheet.grid
  if (asked.startRow >= rowCount || asked.startColumn >= columnCount) {
    throw invalidArgument(
      `Range (${rangeText(sheet.title, asked)}) exceeds grid limits. Max rows: ${rowCount}, max columns: ${columnCount}`,
    )
  }
  const endRow = Math.min(asked.endRow, rowCount)
  const endColumn = Math.min(asked.endColumn, columnCount)
  return { sheet, box: { ...asked, endRow, endColumn } }
}

function sheetByTitle({ sheets }: SpreadsheetState, title: string): Sheet | undefined {
  return (
    sheets.find((sheet) => sheet.title === title) ??
    sheets.find((sheet) => sheet.title.toLowerCase() === title.toLowerCase())
  )
}

/** The cells as asked for, which may reach beyond the grid. Missing sides are those of the grid. */
function boxOfCells({ grid }: Sheet, cells: string): Box | undefined {
  const corners = /^([A-Z]{1,3})([1-9]\d{0,6})(?::([A-Z]{1,3})?([1-9]\d{0,6})?)?$/.exec(cells)
  if (!corners) return undefined
  const [, letters = '', digits = '', lastLetters, lastDigits] = corners
  const [startRow, startColumn] = [Number(digits) - 1, columnNumber(letters) - 1]
  if (!cells.includes(':')) {
    return { startRow, endRow: startRow + 1, startColumn, endColumn: startColumn + 1 }
  }
  const endRow = lastDigits === undefined ? grid.rowCount : Number(lastDigits)
  const endColumn = lastLetters === undefined ? grid.columnCount : columnNumber(lastLetters)
  return { startRow, endRow, startColumn, endColumn }
}

function columnNumber(letters: string): number {
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column
}

export function columnLetters(column: number): string {
  const rest = column % 26
  const letter = String.fromCharCode(65 + rest)
  return column < 26 ? letter : columnLetters(Math.floor(column / 26) - 1) + letter
}

/** The range as errors echo it: `Sheet1!A1:B2`, one cell as `Sheet1!A1`. */
export function rangeText(title: string, box: Box): string {
  const { startRow, endRow, startColumn, endColumn } = box
  const first = `${columnLetters(startColumn)}${startRow + 1}`
  const last = `${columnLetters(endColumn - 1)}${endRow}`
  return `${echoTitle(title)}!${first === last ? first : `${first}:${last}`}`
}

export function quoteTitle(title: string): string {
  return `'${title.replaceAll("'", "''")}'`
}

/** Quotes are left out for names that can be mistaken neither for a cell nor for a boolean. */
function echoTitle(title: string): string {
  const plain = /^[A-Za-z]\w*$/.test(title)
  const cellLike = /^[A-Za-z]{1,3}\d+$/.test(title) || /^(true|false)$/i.test(title)
  return plain && !cellLike ? title : quoteTitle(title)
}
