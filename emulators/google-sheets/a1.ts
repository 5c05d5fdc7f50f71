import { invalidArgument } from './api-error.ts'
import type { Box } from './grid-range.ts'
import type { Sheet, SpreadsheetState } from './state.ts'

/** A range in A1 notation that was found in a spreadsheet. */
export interface FoundRange {
  readonly sheet: Sheet
  /** The range as requested, which may reach beyond the grid. Missing sides are those of the grid. */
  readonly asked: Box
  /** The part of it inside the grid. */
  readonly box: Box
}

/** Finds `Sheet1!A1:B2`, `'A tab'!A:C`, a bare title, or `A1` on the first tab. */
export function findRange(spreadsheet: SpreadsheetState, spec: string): FoundRange {
  const found = parse(spreadsheet, spec)
  if (!found) throw invalidArgument(`Unable to parse range: ${spec}`)
  const { sheet, asked } = found
  const { rowCount, columnCount } = sheet.grid
  if (asked.startRow >= rowCount || asked.startColumn >= columnCount) {
    throw invalidArgument(
      `Range (${rangeText(sheet.title, asked)}) exceeds grid limits. Max rows: ${rowCount}, max columns: ${columnCount}`,
    )
  }
  const endRow = Math.min(asked.endRow, rowCount)
  const endColumn = Math.min(asked.endColumn, columnCount)
  return { sheet, asked, box: { ...asked, endRow, endColumn } }
}

function parse(spreadsheet: SpreadsheetState, spec: string) {
  const quoted = /^'((?:[^']|'')*)'(?:!(.+))?$/su.exec(spec)
  if (quoted) {
    const sheet = sheetByTitle(spreadsheet, (quoted[1] ?? '').replaceAll("''", "'"))
    return sheet && withCells(sheet, quoted[2])
  }
  const bang = spec.lastIndexOf('!')
  if (bang >= 0) {
    const sheet = sheetByTitle(spreadsheet, spec.slice(0, bang))
    return sheet && withCells(sheet, spec.slice(bang + 1))
  }
  const [first] = spreadsheet.sheets
  const cells = first && withCells(first, spec)
  if (cells) return cells
  const sheet = sheetByTitle(spreadsheet, spec)
  return sheet && withCells(sheet, undefined)
}

function sheetByTitle({ sheets }: SpreadsheetState, title: string): Sheet | undefined {
  return (
    sheets.find((sheet) => sheet.title === title) ??
    sheets.find((sheet) => sheet.title.toLowerCase() === title.toLowerCase())
  )
}

const corner = /^\$?([A-Za-z]{1,3})?\$?(0*[1-9]\d{0,6})?$/

function withCells(sheet: Sheet, cells: string | undefined) {
  const { rowCount, columnCount } = sheet.grid
  if (cells === undefined) {
    return {
      sheet,
      asked: { startRow: 0, endRow: rowCount, startColumn: 0, endColumn: columnCount },
    }
  }
  const [from = '', to, ...more] = cells.split(':')
  const start = corner.exec(from)
  const end = corner.exec(to ?? from)
  if (!start || !end || more.length > 0 || from === '' || to === '') return undefined
  const [, startLetters, startDigits] = start
  const [, endLetters, endDigits] = end
  // A lone `A` or `7` is not a range, `A:A` and `7:7` are.
  if (to === undefined && !(startLetters && startDigits)) return undefined
  const rows = order(lineNumber(startDigits), lineNumber(endDigits), rowCount)
  const columns = order(columnNumber(startLetters), columnNumber(endLetters), columnCount)
  return {
    sheet,
    asked: { startRow: rows[0], endRow: rows[1], startColumn: columns[0], endColumn: columns[1] },
  }
}

/** Zero-based start and end, from one-based corners in any order. */
function order(one: number | undefined, other: number | undefined, size: number) {
  const first = one ?? 1
  const last = other ?? size
  return one !== undefined && other !== undefined && other < one
    ? ([last - 1, first] as const)
    : ([first - 1, Math.max(last, first)] as const)
}

function lineNumber(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits)
}

function columnNumber(letters: string | undefined): number | undefined {
  if (letters === undefined) return undefined
  let column = 0
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64
  return column
}

export function columnLetters(column: number): string {
  const rest = column % 26
  const letter = String.fromCharCode(65 + rest)
  return column < 26 ? letter : columnLetters(Math.floor(column / 26) - 1) + letter
}

/** The range as answers echo it: `Sheet1!A1:B2`, one cell as `Sheet1!A1`. */
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
