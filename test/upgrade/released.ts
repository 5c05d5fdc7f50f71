import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import type { StoredMetadata } from '../../emulators/google-sheets/state.ts'
import type { Version } from '../../emulators/google-sheets/versions.ts'
import type { GoogleWorld } from '../../harness/google-world.ts'
import type { MailServer } from '../../harness/mail-world.ts'
import { day, iso, minute } from '../../src/platform/clock.ts'

/** The folder with the journals that a release has left behind, and what is known about them. */
export function folderOf(version: string): string {
  return join(import.meta.dirname, version)
}

export const engines = ['sqlite', 'postgres'] as const
export type Engine = (typeof engines)[number]

/** How many seats the site `launch` has. The last ones are taken when the release ends. */
export const seats = 12

/** The file of sites that the release served. */
const sites = {
  launch: {
    spreadsheet: 'release-launch-spreadsheet-0123456789abcdefgh',
    defaultTab: 'Waitlist',
    closing: { after: seats, overflowTab: 'Later' },
    chatVariable: 'CHAT_URL_LAUNCH',
    chatKind: 'mattermost',
    fields: [
      { name: 'company', label: 'Company' },
      { name: 'plan', type: 'choice', options: ['free', 'pro'] },
      { name: 'chairs', type: 'number', min: 1 },
      { name: 'news', type: 'checkbox' },
    ],
  },
  news: {
    spreadsheet: 'release-news-spreadsheet-0123456789abcdefghij',
    defaultTab: 'Letters',
    duplicates: 'ignore',
  },
  club: {
    spreadsheet: 'release-club-spreadsheet-0123456789abcdefghij',
    defaultTab: 'Members',
    confirmation: 'mail',
  },
} as const

export type Site = keyof typeof sites
export const spreadsheetOf = (site: Site) => sites[site].spreadsheet
export const siteNames = Object.keys(sites) as readonly Site[]

/** Where the channel of `launch` is: for the release, nobody is there. */
export const channelUrl = 'http://127.0.0.1:9/hooks/secret-of-the-channel'

/** Settings with which any version serves these sites. */
export function settingsOf(
  { env }: Pick<GoogleWorld, 'env'>,
  mail: Pick<MailServer, 'env'>,
): Readonly<Record<string, string>> {
  const { SHEETS_SHEET_ID: _, ...account } = env
  return {
    ...{ ...account, ...mail.env, ROLLCALL_CONFIG: JSON.stringify({ sites }) },
    ...{ CHAT_URL_LAUNCH: channelUrl, SPAM_FILTER: 'quarantine', RATE_LIMIT_PER_MINUTE: '0' },
  }
}

export interface Accepted {
  readonly id: string
  readonly site: Site
  readonly email: string
  /** Its `Idempotency-Key`. */
  readonly key: string
}

/** A version of a spreadsheet in JSON, which has no maps. */
interface StoredVersion extends Omit<Version, 'metadata'> {
  readonly metadata: readonly (readonly [number, StoredMetadata])[]
}

/** What the release answered, and what it left behind beside its journal. */
export interface Left {
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number
  readonly accepted: readonly Accepted[]
  readonly forgotten: readonly string[]
  /** Path of the link by which somebody confirms who was asked to. */
  readonly link: string
  /** By their site. */
  readonly spreadsheets: readonly (readonly [Site, StoredVersion])[]
}

/** A database as text: the statements that made its tables, and their rows. */
export interface Dump {
  readonly tables: readonly string[]
  readonly rows: Readonly<Record<string, readonly object[]>>
}

export async function readLeft(version: string, engine: Engine): Promise<Left> {
  const text = await unzipped(version, `${engine}.json.gz`)
  const { at } = JSON.parse(text) as Left
  // Empty cells are undefined, which JSON writes as null.
  const move = (_: string, value: unknown) => moved(at, value) ?? undefined
  return { ...(JSON.parse(text, move) as Left), at }
}

/** @param at when the release ended */
export async function readDump(version: string, at: number): Promise<Dump> {
  const text = await unzipped(version, 'postgres-dump.json.gz')
  const move = (_: string, value: unknown) => moved(at, value)
  return JSON.parse(text, move) as Dump
}

/**
 * A value of a journal or of a cell as if its release had ended within the last day, and not at `at`: times are later
 * by whole days. So what is kept for a time is there still, and what waits for minutes is due.
 */
export function moved(at: number, value: unknown): unknown {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value))
    return iso(Number(moved(at, Date.parse(value))))
  if (typeof value !== 'number' || value < at - day || value > at + 100 * day) return value
  return value + Math.floor((Date.now() - at - 30 * minute) / day) * day
}

/** The path of the link in a mail. */
export function linkIn(text: string): string {
  return /(?<=https:\/\/signup\.rollcall\.example)\S+/.exec(text)?.[0] ?? ''
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
