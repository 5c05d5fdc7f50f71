import { noColumns, type OwnColumn } from '../../signup/row.ts'
import { type Header, readHeader } from '../header.ts'
import type { Table } from './sheets.ts'

/** Where rows go in a sheet: into a table or below everything, and into which columns. */
export interface Place {
  readonly header: Header
  readonly table?: Table
}

/**
 * Chooses where rows go. A table with our columns comes first, then a header in the first row outside
 * of tables, then a table with a column `Email`. Other tables are somebody's data. Only a header outside
 * of tables gets headings added.
 */
export function placeOf(
  tables: readonly Table[],
  firstRow: readonly string[],
  own: readonly OwnColumn[] = noColumns,
  mayAdd = false,
): Place {
  const places = tables.map((table) => ({ table, header: readHeader(table.names, own) }))
  const ours = places.find(({ header }) => header.kind === 'ours')
  if (ours) return ours
  const header = readHeader(firstRow, own, mayAdd)
  const email = header.at[0] ?? 0
  const isInTable = tables.some(
    ({ row, column, names }) => row === 0 && column <= email && email < column + names.length,
  )
  if (header.kind !== 'none' && !isInTable) return { header }
  return places.find((place) => place.header.kind === 'named') ?? { header }
}

export function isSamePlace(one: Place, other: Place): boolean {
  const key = ({ header, table }: Place) => JSON.stringify([table?.tableId, header.at])
  return key(one) === key(other)
}
