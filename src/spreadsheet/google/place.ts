import { columns, noColumns, type OwnColumn } from '../../signup/row.ts'
import type { Warning } from '../../signup/trouble.ts'
import { type Header, headerProblem, readHeader } from '../header.ts'
import type { Table } from './tables.ts'

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

/** Whether rows go to the same table and columns. */
export function isSamePlace(one: Place, other: Place): boolean {
  const key = ({ header, table }: Place) => JSON.stringify([table?.tableId, header.at])
  return key(one) === key(other)
}

/** Warnings about where rows go. Each completes a sentence that begins with the tab. */
export function placeProblems(
  { header, table }: Place,
  own: readonly OwnColumn[] = noColumns,
): readonly Warning[] {
  const problem = headerProblem(header, own)
  const typed = columns.flatMap((name, index) => {
    const type = table?.types.get(table.names[header.at[index] ?? -1] ?? '')
    return type === undefined ? [] : [`${name} (${type})`]
  })
  return [
    ...(problem === undefined ? [] : [{ kind: 'columns', message: problem } as const]),
    ...(typed.length === 0
      ? []
      : [
          {
            kind: 'columnTypes',
            message:
              `has a table with columns that are not plain text: ${typed.join(', ')}. Rollcall writes text ` +
              'into them all the same. Set the type of these columns to text.',
          } as const,
        ]),
  ]
}
