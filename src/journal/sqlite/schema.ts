import { firstRows } from '../tables/layout.ts'
import { layoutFor, type TableMaker } from '../tables/make-tables.ts'

/** SQLite's types of those kinds that are no numbers. */
const types: Readonly<Record<string, string>> = { text: 'TEXT', id: 'BLOB' }

const engine: TableMaker = {
  typeOf: (kind) => types[kind] ?? 'INTEGER',
  literal: Number,
  ifMissing: '',
  rowidOf: ({ key: [column = '', ...others], columns }) =>
    others.length === 0 && columns[column]?.kind !== 'text' ? column : undefined,
  optionsOf: (rowid) => (rowid === undefined ? ' STRICT, WITHOUT ROWID' : ' STRICT'),
}

/** The statements that make the tables and indexes of the present layout. */
export const tableSql = layoutFor(engine)

/** The statements that make the present layout, with its first rows. */
export const layoutSql = [...tableSql, firstRows].join(';\n')
