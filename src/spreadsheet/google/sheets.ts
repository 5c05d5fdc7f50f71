import { tabKey } from '../../signup/signup.ts'
import type { Warning } from '../../signup/trouble.ts'
import { fieldIn, listIn, numberIn, textOf } from './answer.ts'

/** A Google Sheets table, which a person has made from a part of a sheet. */
export interface Table {
  readonly tableId: string
  /** The row and column of the table's first header cell, from 0. */
  readonly row: number
  readonly column: number
  /** The row below the table, from 0. */
  readonly endRow: number
  /** The names of the columns, which are the header cells. */
  readonly names: readonly string[]
}

export interface Sheet {
  readonly sheetId: number
  readonly title: string
  /** The sheet's place among the tabs, from 0. */
  readonly index: number
  /** Whether the sheet has cells. A sheet can also be a chart. */
  readonly isGrid: boolean
  readonly rowCount: number
  readonly columnCount: number
  readonly tables: readonly Table[]
}

/** Google's limit on the cells of a spreadsheet: rows times columns of every grid, including empty cells. */
const cellsMax = 10_000_000
const cellsWarnFrom = 8_000_000

/** How full a spreadsheet is, and what to do about it. */
export function fillOf(sheets: readonly Sheet[]) {
  const cells = sheets.reduce((sum, { rowCount, columnCount }) => sum + rowCount * columnCount, 0)
  const percent = Math.floor((cells / cellsMax) * 100)
  return {
    isNearlyFull: cells >= cellsWarnFrom,
    message: `The spreadsheet is ${percent} % full: ${cells} of at most ${cellsMax} cells, empty ones count too`,
    hint: 'Delete empty rows and columns and old tabs, or switch to a new spreadsheet.',
  }
}

export function fillWarnings(sheets: readonly Sheet[]): readonly Warning[] {
  const { isNearlyFull, message, hint } = fillOf(sheets)
  return isNearlyFull ? [{ kind: 'nearlyFull', message: `${message}. ${hint}` }] : []
}

/** The field masks, inside of `sheets`, for what `readSheets` and `readFirstRows` read. */
const tableFields =
  'tables(tableId,range(startRowIndex,endRowIndex,startColumnIndex),columnProperties(columnIndex,columnName))'
export const sheetFields = `properties(sheetId,title,index,sheetType,gridProperties(rowCount,columnCount)),${tableFields}`
export const cellFields = 'data(startRow,startColumn,rowData(values(formattedValue)))'

export function readSheets(spreadsheet: unknown): readonly Sheet[] {
  return Array.from(listIn(spreadsheet, 'sheets'), (sheet) => ({
    sheetId: numberIn(sheet, 'properties', 'sheetId'),
    title: textOf(fieldIn(sheet, 'properties', 'title')),
    index: numberIn(sheet, 'properties', 'index'),
    isGrid: (fieldIn(sheet, 'properties', 'sheetType') ?? 'GRID') === 'GRID',
    rowCount: numberIn(sheet, 'properties', 'gridProperties', 'rowCount'),
    columnCount: numberIn(sheet, 'properties', 'gridProperties', 'columnCount'),
    tables: readTables(sheet),
  }))
}

/** Reads the tables of a sheet, the topmost first. */
function readTables(sheet: unknown): readonly Table[] {
  const tables = listIn(sheet, 'tables').map((table): Table => {
    const names: string[] = []
    for (const column of listIn(table, 'columnProperties')) {
      names[numberIn(column, 'columnIndex')] = textOf(fieldIn(column, 'columnName'))
    }
    return {
      tableId: textOf(fieldIn(table, 'tableId')),
      row: numberIn(table, 'range', 'startRowIndex'),
      column: numberIn(table, 'range', 'startColumnIndex'),
      endRow: numberIn(table, 'range', 'endRowIndex'),
      names: Array.from(names, (name: string | undefined) => name ?? ''),
    }
  })
  return tables.sort((one, other) => one.row - other.row || one.column - other.column)
}

/**
 * Reads the first row of each sheet in a `Spreadsheet` resource. A sheet without a value in its ranges
 * has no entry. A sheet whose first row is empty, or not in its ranges, has an empty row.
 */
export function readFirstRows(spreadsheet: unknown): ReadonlyMap<number, readonly string[]> {
  const first = new Map<number, readonly string[]>()
  for (const sheet of listIn(spreadsheet, 'sheets')) {
    const data = listIn(sheet, 'data')
    const isFilled = data.some((part) =>
      cellTexts(part).some((row) => row.some((cell) => cell !== '')),
    )
    if (!isFilled) continue
    const top = data.find((part) => numberIn(part, 'startRow') === 0)
    first.set(numberIn(sheet, 'properties', 'sheetId'), cellTexts(top)[0] ?? [])
  }
  return first
}

/** The cells of a part of a sheet, as people see them. */
export function cellTexts(part: unknown): readonly (readonly string[])[] {
  return listIn(part, 'rowData').map((row) =>
    listIn(row, 'values').map((cell) => textOf(fieldIn(cell, 'formattedValue'))),
  )
}

/** Describes a sheet without its title, which may come from a visitor. The gid is in the address bar. */
export function wordsFor({ sheetId, index }: Sheet): string {
  return `the tab at place ${index + 1} (gid=${sheetId})`
}

/** The sheet of a tab. An exact match comes first, then one that ignores case. */
export function findSheet(sheets: readonly Sheet[], tab: string): Sheet | undefined {
  const key = tabKey(tab)
  return (
    sheets.find(({ title }) => title === tab) ?? sheets.find(({ title }) => tabKey(title) === key)
  )
}
