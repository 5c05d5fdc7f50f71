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

type TypedHeading = Pick<OwnColumn, 'heading' | 'type'>

const text = { wanted: 'text', fitting: [] as readonly string[] }

/** What a field's cells are, and Google's types of columns for them besides text. */
const cellTypes = {
  ...{ text, textarea: text, choices: text, url: text, date: text, phone: text },
  choice: { wanted: 'text', fitting: ['DROPDOWN'] },
  number: { wanted: 'a number', fitting: ['DOUBLE', 'CURRENCY', 'PERCENT'] },
  checkbox: { wanted: 'a checkbox', fitting: ['BOOLEAN'] },
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
  const texts = columns.map((heading): TypedHeading => ({ heading }))
  const typed = [...texts, ...own].flatMap(({ heading, type = 'text' }, index) => {
    const given = table?.types.get(table.names[header.at[index] ?? -1] ?? '')
    const { wanted, fitting } = cellTypes[type]
    const fits = given === undefined || fitting.includes(given)
    return fits ? [] : [`${heading} (${given}, not ${wanted})`]
  })
  return [
    ...(problem === undefined ? [] : [{ kind: 'columns', message: problem } as const]),
    ...(typed.length === 0
      ? []
      : [
          {
            kind: 'columnTypes',
            message:
              `has a table with columns of another type than their cells: ${typed.join(', ')}. Rollcall ` +
              'writes its cells all the same. Change the types of these columns.',
          } as const,
        ]),
  ]
}
