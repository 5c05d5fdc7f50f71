import { type Column, type ColumnKind, layout, type Table } from './layout.ts'

/** In what engines differ when they make tables. */
export interface TableMaker {
  readonly typeOf: (kind: ColumnKind) => string
  /** How it writes a number or a flag. */
  readonly literal: (value: number | boolean) => number | string
  readonly ifMissing: '' | 'IF NOT EXISTS '
  /** The column by which it keeps the rows of a table, if any. Each entry of an index ends with it. */
  readonly rowidOf?: (table: Table) => string | undefined
  /** What stands behind the columns of a table with or without such a column. */
  readonly optionsOf?: (rowid: string | undefined) => string
}

/** The statements that make the tables and their indexes. */
export function layoutFor(engine: TableMaker): readonly string[] {
  return layout.flatMap((table) => statementsFor(table, engine))
}

function statementsFor(table: Table, engine: TableMaker): readonly string[] {
  const { name, columns, key, unique = [], indexes = {} } = table
  const { ifMissing, rowidOf, optionsOf } = engine
  const rowid = rowidOf?.(table)
  const lines = Object.entries(columns).map(([column, it]) =>
    column === rowid ? `${column} INTEGER PRIMARY KEY` : `${column} ${definition(it, engine)}`,
  )
  if (rowid === undefined) lines.push(`PRIMARY KEY (${key.join(', ')})`)
  if (unique.length > 0) lines.push(`UNIQUE (${unique.join(', ')})`)
  const making = `CREATE TABLE ${ifMissing}${name} (${lines.join(', ')})${optionsOf?.(rowid) ?? ''}`
  const indexing = Object.entries(indexes).map(([index, { columns: all, isUnique, where }]) => {
    const own = all.at(-1) === rowid ? all.slice(0, -1) : all
    const kind = isUnique ? 'UNIQUE INDEX' : 'INDEX'
    const condition = where === undefined ? '' : ` WHERE ${where}`
    return `CREATE ${kind} ${ifMissing}${index} ON ${name} (${own.join(', ')})${condition}`
  })
  return [making, ...indexing]
}

function definition(
  { kind, initial, isOptional }: Column,
  { typeOf, literal }: TableMaker,
): string {
  const type = `${typeOf(kind)}${isOptional ? '' : ' NOT NULL'}`
  if (initial === undefined) return type
  return `${type} DEFAULT ${typeof initial === 'string' ? `'${initial}'` : literal(initial)}`
}
