import type pg from 'pg'
import type { Kind, MovedRow, MovedTable } from '../moved-tables.ts'

/** Runs a statement on the connection of a move. */
export type Run = (
  text: string,
  values?: readonly unknown[],
) => Promise<pg.QueryArrayResult<Found[]>>

/** What `pg` makes of our columns. */
export type Found = string | number | boolean | null

export const types: Readonly<Record<Kind, string>> = {
  number: 'bigint',
  text: 'text',
  id: 'uuid',
  boolean: 'boolean',
}

/** Adds rows to this table, which has the columns of `like`. */
export async function insertRows(
  run: Run,
  table: string,
  { columns }: MovedTable,
  rows: readonly MovedRow[],
): Promise<void> {
  const kinds = Object.values(columns)
  const lists = kinds.map((_, at) => rows.map((row) => row[at]))
  const from = kinds.map((kind, at) => `$${at + 1}::${types[kind]}[]`).join(', ')
  const into = `rollcall.${table} (${Object.keys(columns).join(', ')})`
  await run(`INSERT INTO ${into} SELECT * FROM unnest(${from})`, lists)
}

export function valueOf(value: Found | undefined, kind: Kind): MovedRow[number] {
  if (value === null || value === undefined) return null
  if (kind === 'boolean') return value === true
  return kind === 'number' ? Number(value) : String(value)
}
