import { isRecord } from '../../signup/json.ts'
import { listIn, textOf } from './answer.ts'

/** A Google Sheets table, which a person has made from a part of a sheet. */
export interface Table {
  readonly tableId: string
  /** The row and column of the table's first header cell, from 0. */
  readonly row: number
  readonly column: number
  /** The names of the columns, which are the header cells. */
  readonly names: readonly string[]
  /** The types of the columns that are not plain text, by name. */
  readonly types: ReadonlyMap<string, string>
}

export const tableFields =
  'tables(tableId,range(startRowIndex,startColumnIndex),columnProperties(columnIndex,columnName,columnType))'

/** Google's types for a column of plain text or without a type. */
const textTypes = ['', 'TEXT', 'COLUMN_TYPE_UNSPECIFIED']

/** Reads the tables of a sheet, the topmost first. Google's JSON may leave out a field that is 0. */
export function readTables(tables: unknown): readonly Table[] {
  const read = (Array.isArray(tables) ? tables : []).flatMap((table: unknown): Table[] => {
    if (!isRecord(table)) return []
    const range = isRecord(table['range']) ? table['range'] : {}
    const names: string[] = []
    const types = new Map<string, string>()
    for (const column of listIn(table, 'columnProperties')) {
      if (!isRecord(column)) continue
      const name = textOf(column['columnName'])
      const type = textOf(column['columnType'])
      names[Number(column['columnIndex'] ?? 0)] = name
      if (!textTypes.includes(type)) types.set(name, type)
    }
    return [
      {
        tableId: textOf(table['tableId']),
        row: Number(range['startRowIndex'] ?? 0),
        column: Number(range['startColumnIndex'] ?? 0),
        names: Array.from(names, (name: string | undefined) => name ?? ''),
        types,
      },
    ]
  })
  return read.sort((one, other) => one.row - other.row || one.column - other.column)
}
