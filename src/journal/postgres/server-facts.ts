import type pg from 'pg'
import type { Clock } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { numberOf, type Row } from '../sql.ts'
import { layoutVersion } from '../tables/layout.ts'
import { withClient } from './reach.ts'
import { layoutSql } from './schema.ts'

/** What an operator wants to know about the server. What is left out is what this server does not tell. */
export interface ServerFacts {
  /** What the server calls itself. */
  readonly product?: string
  /** Such as 180004 for 18.4. */
  readonly version?: number
  readonly encoding?: string
  /** Whether it is a standby. */
  readonly isStandby?: boolean
  /** Whether it takes no signups, as a standby or by a setting. */
  readonly isReadOnly?: boolean
  /** By how much its clock is ahead of ours. */
  readonly aheadMs?: Millis
  /** Whether its schema `rollcall` has tables, and is no journal. */
  readonly isForeign?: boolean
  /** Whether the user of the URL may use that schema. */
  readonly mayEnter?: boolean
  /** The version of the tables; 0 when there is no journal. */
  readonly tables?: number
  /** The version of the tables that this version of Rollcall makes. */
  readonly tablesWanted: number
  /** What the user may not do with the tables, such as `INSERT`. */
  readonly rightsMissing?: readonly string[]
  /** Whether the user may change the tables, as a new version of Rollcall may have to. */
  readonly mayMigrate?: boolean
  /** The setting `synchronous_commit`. */
  readonly synchronousCommit?: string
  /** Whether a commit waits for a standby. */
  readonly hasSynchronousStandby?: boolean
  /** The settings with which it may lose what was committed. */
  readonly risks?: readonly Risk[]
  readonly connectionsMax?: number
  readonly connectionsLeft?: number
  /** Whether a pooler is between us and the server. */
  readonly hasPooler?: boolean
}

/** The settings with which a server may lose what was committed, and their values then. */
const risky = [
  ['fsync', 'off'],
  ['full_page_writes', 'off'],
  ['data_sync_retry', 'on'],
  ['zero_damaged_pages', 'on'],
] as const

export type Risk = (typeof risky)[number][0]

/** Looked up by name, because `to_regclass` fails for who may not use the schema. */
const tablesIn = `SELECT oid FROM pg_class
  WHERE relnamespace = to_regnamespace('rollcall') AND relkind IN ('r', 'p')`

const ourNames = Array.from(
  layoutSql.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g),
  ([, name]) => `'${name}'`,
)
const ourTables = `${tablesIn} AND relname IN (${ourNames.join(', ')})`

/** The columns of most are named as the facts. */
const sql = {
  version: `SELECT version() AS product, current_setting('server_version_num')::integer AS version,
              current_setting('server_encoding') AS encoding`,
  standby: `SELECT pg_is_in_recovery() AS "isStandby",
              current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
  clock: 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
  // The table `version` is made first, and these are its columns.
  schema: `SELECT EXISTS (${tablesIn}) AND NOT is_ours AS "isForeign",
             EXISTS (${tablesIn}) AND is_ours AS "hasTables",
             has_schema_privilege(to_regnamespace('rollcall')::oid, 'USAGE') AS "mayEnter"
           FROM (SELECT count(*) = 2 AS is_ours FROM pg_attribute
             WHERE attrelid IN (${tablesIn} AND relname = 'version')
               AND attname IN ('only_row', 'number') AND NOT attisdropped) AS version`,
  tables: 'SELECT number AS tables FROM rollcall.version',
  rights: `SELECT ARRAY(
             SELECT name FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS name
             WHERE EXISTS (${ourTables} AND NOT has_table_privilege(oid, name))) AS "rightsMissing"`,
  owner: `SELECT coalesce(
            (SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class
             WHERE oid IN (${ourTables})),
            has_schema_privilege(to_regnamespace('rollcall')::oid, 'CREATE'),
            has_database_privilege(current_database(), 'CREATE')) AS "mayMigrate"`,
  commit: `SELECT current_setting('synchronous_commit') AS "synchronousCommit",
             current_setting('synchronous_standby_names') <> '' AS "hasSynchronousStandby"`,
  risks: `SELECT ARRAY(
            SELECT name FROM pg_settings
            WHERE (name, setting) IN (${risky.map(([name, value]) => `('${name}', '${value}')`).join(', ')})
          ) AS risks`,
  connections: `SELECT current_setting('max_connections')::integer AS "connectionsMax",
                  current_setting('max_connections')::integer
                    - current_setting('superuser_reserved_connections')::integer
                    - (SELECT sum(numbackends) FROM pg_stat_database)::integer AS "connectionsLeft"`,
  process: 'SELECT pg_backend_pid() AS pid',
  hasLeases: `SELECT to_regclass('rollcall.lease') IS NOT NULL AS "isThere"`,
  leases: 'SELECT count(*) AS count FROM rollcall.lease WHERE expires_at > clock_timestamp()',
} as const

/**
 * Looks at the server of this URL. Changes nothing.
 *
 * @throws Unreachable when it does not connect
 */
export function readServerFacts(url: string, clock: Pick<Clock, 'now'>): Promise<ServerFacts> {
  return withClient(url, async (client) => {
    const version = await ask(client, sql.version)
    const before = clock.now()
    const { now } = await ask(client, sql.clock)
    const ours = (before + clock.now()) / 2
    const { hasTables, ...schema } = await ask(client, sql.schema)
    const { pid } = await ask(client, sql.process)
    const tables = hasTables
      ? { ...(await ask(client, sql.tables)), ...(await ask(client, sql.rights)) }
      : { tables: 0, rightsMissing: [] }
    return {
      ...version,
      ...(now !== undefined && { aheadMs: Number(now) - ours }),
      ...(await ask(client, sql.standby)),
      ...schema,
      ...tables,
      tablesWanted: layoutVersion,
      ...(await ask(client, sql.owner)),
      ...(await ask(client, sql.commit)),
      ...(await ask(client, sql.risks)),
      ...(await ask(client, sql.connections)),
      // A pooler makes up the number of the process, as several may serve one client.
      ...(pid !== undefined && { hasPooler: pid !== processOf(client) }),
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
    const { rows } = await client.query<Row>(sql.hasLeases)
    if (rows[0]?.['isThere'] !== true) return false
    return Number((await client.query<Row>(sql.leases)).rows[0]?.['count']) > 0
  })
}

/** The first row without what is null. It is empty where a server that only speaks PostgreSQL's protocol fails. */
async function ask(client: pg.Client, text: string): Promise<Row> {
  const answer = await client.query<Row>(text).catch(() => undefined)
  const known = Object.entries(answer?.rows[0] ?? {}).filter(([, value]) => value !== null)
  return Object.fromEntries(known)
}

/** The number of the server's process, as it was told when the connection began. */
function processOf(client: pg.Client): number | undefined {
  return 'processID' in client ? numberOf(client.processID) : undefined
}
