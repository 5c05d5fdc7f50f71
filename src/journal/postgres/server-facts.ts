import type pg from 'pg'
import type { Clock } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { migrations } from './schema.ts'
import { withClient } from './reach.ts'

/** What an operator wants to know about the server. Undefined is what this server does not tell. */
export interface ServerFacts {
  /** What the server calls itself. */
  readonly product: string | undefined
  /** Such as 180004 for 18.4. */
  readonly version: number | undefined
  readonly encoding: string | undefined
  /** Whether it is a standby. */
  readonly isStandby: boolean | undefined
  /** Whether it takes no signups, as a standby or by a setting. */
  readonly isReadOnly: boolean | undefined
  /** By how much its clock is ahead of ours. */
  readonly aheadMs: Millis | undefined
  /** Whether its schema `rollcall` has tables, and is no journal. */
  readonly isForeign: boolean | undefined
  /** Whether the user of the URL may use that schema. */
  readonly mayEnter: boolean | undefined
  /** How many migrations have run; 0 when there is no journal. */
  readonly tables: number | undefined
  /** How many migrations this version has. */
  readonly tablesWanted: number
  /** What the user may not do with the tables, such as `INSERT`. */
  readonly rightsMissing: readonly string[] | undefined
  /** Whether the user may change the tables, as a new version of Rollcall may have to. */
  readonly mayMigrate: boolean | undefined
  /** The setting `synchronous_commit`. */
  readonly synchronousCommit: string | undefined
  /** Whether a commit waits for a standby. */
  readonly hasSynchronousStandby: boolean | undefined
  /** The settings with which it may lose what was committed. */
  readonly risks: readonly Risk[] | undefined
  readonly connectionsMax: number | undefined
  readonly connectionsLeft: number | undefined
  /** Whether a pooler is between us and the server. */
  readonly hasPooler: boolean | undefined
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

/** The names of our tables. */
const ourTables = migrations.flatMap((text) =>
  Array.from(text.matchAll(/CREATE TABLE IF NOT EXISTS rollcall\.(\w+)/g), ([, name]) => name),
)

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
  tables: 'SELECT number FROM rollcall.version',
  rights: `SELECT right_name AS name FROM (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS rights (right_name)
           WHERE EXISTS (${tablesIn} AND relname = ANY ($1) AND NOT has_table_privilege(oid, right_name))`,
  owner: `SELECT coalesce(
            (SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class
             WHERE oid IN (${tablesIn} AND relname = ANY ($1))),
            has_schema_privilege(to_regnamespace('rollcall')::oid, 'CREATE'),
            has_database_privilege(current_database(), 'CREATE')) AS "mayMigrate"`,
  commit: `SELECT current_setting('synchronous_commit') AS commit,
             current_setting('synchronous_standby_names') <> '' AS standby`,
  risks: `SELECT name FROM pg_settings JOIN unnest($1::text[], $2::text[]) AS risk (name, value)
          USING (name) WHERE setting = value`,
  connections: `SELECT current_setting('max_connections')::integer AS max,
                  current_setting('max_connections')::integer
                    - current_setting('superuser_reserved_connections')::integer
                    - (SELECT sum(numbackends) FROM pg_stat_database)::integer AS free`,
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
    const ask = askOf(client)
    const version = await ask(sql.version)
    const before = clock.now()
    const theirs = await ask(sql.clock)
    const ours = (before + clock.now()) / 2
    const standby = await ask(sql.standby)
    const schema = await ask(sql.schema)
    const hasTables = schema?.['hasTables'] === true
    const commit = await ask(sql.commit)
    const connections = await ask(sql.connections)
    const pid = numberOf((await ask(sql.process))?.['pid'])
    return {
      product: textOf(version?.['product']),
      version: numberOf(version?.['version']),
      encoding: textOf(version?.['encoding']),
      isStandby: isTrue(standby?.['isStandby']),
      isReadOnly: isTrue(standby?.['isReadOnly']),
      aheadMs: theirs && Number(theirs['now']) - ours,
      isForeign: isTrue(schema?.['isForeign']),
      mayEnter: isTrue(schema?.['mayEnter']),
      tables: hasTables ? numberOf((await ask(sql.tables))?.['number']) : 0,
      tablesWanted: migrations.length,
      rightsMissing: hasTables ? await names(client, sql.rights, [ourTables]) : [],
      mayMigrate: isTrue((await ask(sql.owner, [ourTables]))?.['mayMigrate']),
      synchronousCommit: textOf(commit?.['commit']),
      hasSynchronousStandby: isTrue(commit?.['standby']),
      risks: (await names(client, sql.risks, [
        risky.map(([name]) => name),
        risky.map(([, value]) => value),
      ])) as readonly Risk[] | undefined,
      connectionsMax: numberOf(connections?.['max']),
      connectionsLeft: numberOf(connections?.['free']),
      // A pooler makes up the number of the process, as several may serve one client.
      hasPooler: pid === undefined ? undefined : pid !== processOf(client),
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
    const { rows } = await client.query<Values>(sql.hasLeases)
    if (rows[0]?.['isThere'] !== true) return false
    return Number((await client.query<Values>(sql.leases)).rows[0]?.['count']) > 0
  })
}

type Values = Readonly<Record<string, unknown>>

/** Servers that only speak PostgreSQL's protocol lack some functions. */
function askOf(client: pg.Client) {
  return async (text: string, values: unknown[] = []): Promise<Values | undefined> => {
    const answer = await client.query<Values>(text, values).catch(() => undefined)
    return answer?.rows[0]
  }
}

async function names(
  client: pg.Client,
  text: string,
  values: readonly unknown[],
): Promise<readonly string[] | undefined> {
  const answer = await client.query<Values>(text, [...values]).catch(() => undefined)
  return answer?.rows.map(({ name }) => String(name))
}

/** The number of the server's process, as it was told when the connection began. */
function processOf(client: pg.Client): number | undefined {
  return 'processID' in client ? numberOf(client.processID) : undefined
}

function numberOf(value: unknown): number | undefined {
  return value === undefined || value === null ? undefined : Number(value)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isTrue(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}
