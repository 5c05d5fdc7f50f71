import type pg from 'pg'
import type { Row } from '../sql.ts'
import { otherVersion } from '../tables/versions.ts'
import { withClient } from './reach.ts'
import { layoutSql } from './schema.ts'

/** What an operator wants to know about the server. What is left out is what this server does not tell. */
export interface ServerFacts {
  /** What the server calls itself, with its version. */
  readonly product?: string
  readonly encoding?: string
  /** Whether it is a standby. */
  readonly isStandby?: boolean
  /** Whether it takes no signups, as a standby or by a setting. */
  readonly isReadOnly?: boolean
  /** Whether its schema `rollcall` has tables, and is no journal. */
  readonly isForeign?: boolean
  /** Whether the user of the URL may use that schema. */
  readonly mayEnter?: boolean
  /** The version of the tables; 0 when there is no journal. */
  readonly tables?: number
  /** What is wrong with that version, and what to do about it; left out when it is that of this Rollcall. */
  readonly otherVersion?: { readonly why: string; readonly hint: string } | undefined
  /** What the user may not do with the tables, such as `INSERT`. */
  readonly rightsMissing?: readonly string[]
  /** Whether the user may change the tables, as a new version of Rollcall may have to. */
  readonly mayMigrate?: boolean
  /** The settings with which it may lose what was committed. */
  readonly risks?: readonly Risk[]
}

export type Risk = 'fsync' | 'full_page_writes' | 'data_sync_retry' | 'zero_damaged_pages'

/** Looked up by name, because `to_regclass` fails for who may not use the schema. */
const schema = `to_regnamespace('rollcall')`
const tablesIn = `SELECT oid FROM pg_class WHERE relnamespace = ${schema} AND relkind IN ('r', 'p')`

const ourNames = Array.from(
  layoutSql.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g),
  ([, name]) => `'${name}'`,
)
const ourTables = `${tablesIn} AND relname IN (${ourNames.join(', ')})`

/** The columns are named as the facts, but for `hasTables`. */
const sql = {
  server: `SELECT version() AS product, current_setting('server_encoding') AS encoding`,
  standby: `SELECT pg_is_in_recovery() AS "isStandby",
              current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
  // The table `version` is made first, and these are its columns.
  schema: `SELECT EXISTS (${tablesIn}) AND NOT is_ours AS "isForeign",
             EXISTS (${tablesIn}) AND is_ours AS "hasTables",
             has_schema_privilege(${schema}::oid, 'USAGE') AS "mayEnter"
           FROM (SELECT count(*) = 2 AS is_ours FROM pg_attribute
             WHERE attrelid IN (${tablesIn} AND relname = 'version')
               AND attname IN ('only_row', 'number') AND NOT attisdropped) AS version`,
  rights: `SELECT ARRAY(
             SELECT name FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS name
             WHERE EXISTS (${ourTables} AND NOT has_table_privilege(oid, name))
           ) AS "rightsMissing",
           coalesce(
             (SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class
              WHERE oid IN (${ourTables})),
             has_schema_privilege(${schema}::oid, 'CREATE'),
             has_database_privilege(current_database(), 'CREATE')) AS "mayMigrate"`,
  tables: 'SELECT number AS tables FROM rollcall.version',
  risks: `SELECT ARRAY(
            SELECT name FROM pg_settings
            WHERE (name, setting) IN (('fsync', 'off'), ('full_page_writes', 'off'),
              ('data_sync_retry', 'on'), ('zero_damaged_pages', 'on'))) AS risks`,
  hasLeases: `SELECT to_regclass('rollcall.lease') IS NOT NULL AS "isThere"`,
  isHeld: `SELECT EXISTS (
             SELECT 1 FROM rollcall.lease WHERE expires_at > clock_timestamp()) AS "isHeld"`,
} as const

/**
 * Looks at the server of this URL. Changes nothing.
 *
 * @throws Unreachable when it does not connect
 */
export function readServerFacts(url: string): Promise<ServerFacts> {
  return withClient(url, async (client) => {
    const { hasTables, ...schema } = await readRow(client, sql.schema)
    const version = hasTables === false ? { tables: 0 } : await readRow(client, sql.tables)
    const tables = Number(version['tables'] ?? 0)
    return {
      ...(await readRow(client, sql.server)),
      ...(await readRow(client, sql.standby)),
      ...schema,
      ...(await readRow(client, sql.rights)),
      ...version,
      ...(tables > 0 && {
        otherVersion: otherVersion(tables, { mayMigrate: false, elsewhere: 'DATABASE_URL' }),
      }),
      ...(await readRow(client, sql.risks)),
    }
  })
}

/**
 * Whether an instance delivers from the database of this URL now.
 *
 * @throws Unreachable when it does not connect
 */
export function hasLeaseholder(url: string): Promise<boolean> {
  return withClient(url, async (client) => {
    const found = await client.query<Row>(sql.hasLeases)
    if (!found.rows[0]?.['isThere']) return false
    const { rows } = await client.query<Row>(sql.isHeld)
    return rows[0]?.['isHeld'] === true
  })
}

/** The first row without what is null. It is empty where a server that only speaks PostgreSQL's protocol fails. */
async function readRow(client: pg.Client, text: string): Promise<Row> {
  const answer = await client.query<Row>(text).catch(() => undefined)
  const known = Object.entries(answer?.rows[0] ?? {}).filter(([, value]) => value !== null)
  return Object.fromEntries(known)
}
