import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import type { StoredMetadata } from '../../emulators/google-sheets/state.ts'
import type { Version } from '../../emulators/google-sheets/versions.ts'
import type { GoogleWorld } from '../../harness/google-world.ts'
import { layoutSql as postgres } from '../../src/journal/postgres/schema.ts'
import { layoutSql as sqlite } from '../../src/journal/sqlite/schema.ts'
import { layoutVersion } from '../../src/journal/tables/layout.ts'

/** The folder with the journals that a release has left behind, and what is known about them. */
export function folderOf(version: string): string {
  return join(import.meta.dirname, version)
}

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

/** The file of sites that the release served. */
const sites = {
  launch: {
    spreadsheet: 'release-launch-spreadsheet-0123456789abcdefgh',
    defaultTab: 'Waitlist',
    fields: [
      { name: 'company', label: 'Company' },
      { name: 'plan', type: 'choice', options: ['free', 'pro'] },
      { name: 'seats', type: 'number', min: 1 },
      { name: 'news', type: 'checkbox' },
    ],
  },
  news: {
    spreadsheet: 'release-news-spreadsheet-0123456789abcdefghij',
    defaultTab: 'Letters',
    duplicates: 'ignore',
  },
} as const

export const spreadsheetIds = Object.values(sites).map(({ spreadsheet }) => spreadsheet)

/** Settings with which any version serves these sites. */
export function settingsOf({ env }: Pick<GoogleWorld, 'env'>): Readonly<Record<string, string>> {
  const { SHEETS_SHEET_ID: _, ...account } = env
  return { ...account, ROLLCALL_CONFIG: JSON.stringify({ sites }) }
}

export interface Accepted {
  readonly id: string
  readonly site: string
  readonly email: string
  /** Its `Idempotency-Key`. */
  readonly key: string
}

/** A version of a spreadsheet in JSON, which has no maps. */
interface StoredVersion extends Omit<Version, 'metadata'> {
  readonly metadata: readonly (readonly [number, StoredMetadata])[]
}

/** What the release answered, and what it left in the spreadsheets. */
export interface Left {
  readonly version: string
  readonly accepted: readonly Accepted[]
  readonly forgotten: readonly string[]
  readonly spreadsheets: Readonly<Record<string, StoredVersion>>
}

/** The version of the tables, and a digest of the statements that make them. */
export interface Layout extends Readonly<Record<Engine, string>> {
  readonly version: number
}

/** That of this version. */
export function layoutNow(): Layout {
  const digest = (sql: string) => createHash('sha256').update(sql).digest('hex')
  return { version: layoutVersion, sqlite: digest(sqlite), postgres: digest(postgres) }
}

/** That of the last commit that changed it. */
export async function readLayout(): Promise<Layout> {
  return JSON.parse(await readFile(layoutFile, 'utf8')) as Layout
}

export const layoutFile = join(import.meta.dirname, 'layout.json')

/** A database as text: the statements that made its tables, and their rows. */
export interface Dump {
  readonly tables: readonly string[]
  readonly rows: Readonly<Record<string, readonly object[]>>
}

export async function readLeft(version: string, engine: Engine): Promise<Left> {
  // Empty cells are undefined, which JSON writes as null.
  const text = await unzipped(version, `${engine}.json.gz`)
  return JSON.parse(text, (_, value: unknown) => value ?? undefined) as Left
}

export async function readDump(version: string): Promise<Dump> {
  return JSON.parse(await unzipped(version, 'postgres-dump.json.gz')) as Dump
}

async function unzipped(version: string, name: string): Promise<string> {
  return gunzipSync(await readFile(join(folderOf(version), name))).toString()
}

export const zipped = (value: unknown): Uint8Array => gzipSync(JSON.stringify(value), { level: 9 })

/** Fills an empty database. */
export async function load(url: string, { tables, rows }: Dump): Promise<void> {
  await using client = await connected(url)
  for (const statement of tables) await client.query(statement)
  for (const [table, given] of Object.entries(rows)) {
    await client.query(`DELETE FROM rollcall.${table}`)
    const sql = `INSERT INTO rollcall.${table} SELECT * FROM json_populate_recordset(NULL::rollcall.${table}, $1)`
    await client.query(sql, [JSON.stringify(given)])
  }
}

/** The rows of all tables. */
export async function dump(url: string, tables: readonly string[]): Promise<Dump> {
  await using client = await connected(url)
  const named = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'rollcall' ORDER BY 1`,
  )
  const rows: Record<string, readonly object[]> = {}
  for (const { name } of named.rows) {
    const all = await client.query<{ rows: object[] | null }>(
      `SELECT json_agg(it) AS rows FROM rollcall.${name} it`,
    )
    rows[name] = all.rows[0]?.rows ?? []
  }
  return { tables, rows }
}

/** The columns and indexes of all tables, as lines. */
export async function schemaIn(url: string): Promise<string[]> {
  await using client = await connected(url)
  const { rows } = await client.query<{ line: string }>(`
    SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) AS line
      FROM information_schema.columns WHERE table_schema = 'rollcall'
    UNION SELECT indexdef FROM pg_indexes WHERE schemaname = 'rollcall' ORDER BY 1`)
  return rows.map(({ line }) => line)
}

async function connected(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client(url)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
