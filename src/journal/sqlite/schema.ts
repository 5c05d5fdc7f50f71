import { firstRows, tablesOf } from '../tables/layout.ts'
import { columnsFor, layoutFor, type TableMaker } from '../tables/make-tables.ts'

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

/** The statements that make the tables and indexes of a version of 7 or later. */
export function tableSqlOf(version: number): readonly string[] {
  return layoutFor(engine, tablesOf(version))
}

/** The statements that make the tables and indexes of the present layout. */
export const tableSql = layoutFor(engine)

/** The statements that bring the tables of such a version to the present layout. */
export function newTableSql(version: number): string {
  const nameOf = (statement: string) => statement.slice(0, statement.indexOf('('))
  const there = new Set(tableSqlOf(version).map(nameOf))
  const made = tableSql.filter((statement) => !there.has(nameOf(statement)))
  return [...columnsFor(engine, version), ...made].join(';\n')
}

/** The statements that make the present layout, with its first rows. */
export const layoutSql = [...tableSql, firstRows].join(';\n')

/** The layout of 0.1.0, which was never published. */
export const unpublishedVersion = 6

/** Where the tables of 0.1.0 have other columns: what becomes of them. */
const changed: Readonly<Record<string, string>> = {
  tab: 'SELECT id, site, key, name, accepted, opened_at, opened_by FROM old_tab',
  progress: 'SELECT id, written, written_to FROM old_tab',
  hour_accepted: 'SELECT site, hour, accepted FROM old_hour_count WHERE accepted > 0',
  hour_written: 'SELECT site, hour, written FROM old_hour_count WHERE written > 0',
  counter: `SELECT 'batch', coalesce(max(seq), 0) FROM sqlite_sequence`,
  idempotency_key: `SELECT site, key, fingerprint, first_position, last_position, refused, stored_at
                    FROM old_idempotency_key WHERE space = ''`,
  batch: 'SELECT number, site, digest, settled_at, spreadsheet, is_expired FROM old_batch',
  signup: `SELECT position, id, tab, received_at, email, source, name, tags, metadata, is_ignored, fields,
             NULL FROM old_signup`,
}

/** The tables of 0.1.0. */
export const unpublishedTables: readonly string[] = [
  ...['batch', 'batch_range', 'fact', 'hour_count', 'idempotency_key', 'kept_address', 'marker'],
  ...['provider_call', 'redelivered', 'redelivery', 'removal', 'signup', 'site', 'tab'],
  ...['tombstone', 'used_token'],
]

/** A table or an index, and the statement that made it. */
export interface Made {
  readonly type: 'table' | 'index'
  readonly name: string
  readonly sql: string
}

/** The statements that bring the tables of 0.1.0 to the present layout. */
export function upgradeSql(made: readonly Made[]): string {
  const namesOf = (type: Made['type']) => made.filter((it) => it.type === type).map((it) => it.name)
  const tables = namesOf('table')
  return [
    ...namesOf('index').map((name) => `DROP INDEX ${name}`),
    ...tables.map((name) => `ALTER TABLE ${name} RENAME TO old_${name}`),
    layoutSql,
    'DELETE FROM counter',
    ...tablesOf(7).map(
      ({ name }) => `INSERT INTO ${name} ${changed[name] ?? `SELECT * FROM old_${name}`}`,
    ),
    // Parts of others first.
    ...tables.toReversed().map((name) => `DROP TABLE old_${name}`),
  ].join(';\n')
}

/**
 * The index that finds duplicates. It exists only while duplicates are ignored, because it makes every
 * append slower. SQLite's `lower` knows only ASCII, which is enough for our addresses.
 */
export const addressIndex = {
  name: 'signup_by_address',
  create: 'CREATE INDEX IF NOT EXISTS signup_by_address ON signup (lower(email), tab)',
  find: "SELECT 1 FROM sqlite_schema WHERE name = 'signup_by_address'",
  rebuild: 'REINDEX signup_by_address',
  drop: 'DROP INDEX IF EXISTS signup_by_address',
} as const
