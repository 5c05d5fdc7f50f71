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

export const tableFields =
  'tables(tableId,range(startRowIndex,endRowIndex,startColumnIndex),columnProperties(columnIndex,columnName))'

/** Reads the tables of a sheet, the topmost first. */
export function readTables(sheet: unknown): readonly Table[] {
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
