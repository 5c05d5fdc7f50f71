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
  /** Whether it is a standby, which takes no signups. */
  readonly isReadOnly: boolean | undefined
  /** By how much its clock is ahead of ours. */
  readonly aheadMs: Millis | undefined
  /** How many migrations have run; 0 when there is no journal. */
  readonly tables: number | undefined
  /** How many migrations this version has. */
  readonly tablesWanted: number
  /** What the user of the URL may not do with the tables, such as `INSERT`. */
  readonly rightsMissing: readonly string[] | undefined
  /** Whether the user may change the tables, as a new version of Rollcall may have to. */
  readonly mayMigrate: boolean | undefined
  /** The setting `synchronous_commit`. */
  readonly synchronousCommit: string | undefined
  /** Whether a commit waits for a standby. */
  readonly hasSynchronousStandby: boolean | undefined
  /** Whether what was committed is synced to disk. */
  readonly isSynced: boolean | undefined
  readonly connectionsMax: number | undefined
  readonly connectionsLeft: number | undefined
  /** Whether a pooler is between us and the server. */
  readonly hasPooler: boolean | undefined
}

const sql = {
  version: `SELECT version() AS product, current_setting('server_version_num')::integer AS version,
              current_setting('server_encoding') AS encoding`,
  standby: 'SELECT pg_is_in_recovery() AS "isReadOnly"',
  clock: 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
  hasTables: `SELECT to_regclass('rollcall.version') IS NOT NULL AS "isThere"`,
  tables: 'SELECT number FROM rollcall.version',
  rights: `SELECT right_name AS name FROM (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS rights (right_name)
           WHERE EXISTS (SELECT 1 FROM pg_class
             WHERE relnamespace = to_regnamespace('rollcall') AND relkind IN ('r', 'p')
               AND NOT has_table_privilege(pg_class.oid, right_name))`,
  owner: `SELECT coalesce(
            (SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class
             WHERE relnamespace = to_regnamespace('rollcall') AND relkind IN ('r', 'p')),
            has_database_privilege(current_database(), 'CREATE')) AS "mayMigrate"`,
  commit: `SELECT current_setting('synchronous_commit') AS commit,
             current_setting('synchronous_standby_names') <> '' AS standby,
             current_setting('fsync') = 'on' AS synced`,
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
export function readServerFacts(url: string, { now }: Pick<Clock, 'now'>): Promise<ServerFacts> {
  return withClient(url, async (client) => {
    const ask = askOf(client)
    const version = await ask(sql.version)
    const before = now()
    const clock = await ask(sql.clock)
    const ours = (before + now()) / 2
    const hasTables = (await ask(sql.hasTables))?.['isThere'] === true
    const commit = await ask(sql.commit)
    const connections = await ask(sql.connections)
    const pid = numberOf((await ask(sql.process))?.['pid'])
    return {
      product: textOf(version?.['product']),
      version: numberOf(version?.['version']),
      encoding: textOf(version?.['encoding']),
      isReadOnly: isTrue((await ask(sql.standby))?.['isReadOnly']),
      aheadMs: clock && Number(clock['now']) - ours,
      tables: hasTables ? numberOf((await ask(sql.tables))?.['number']) : 0,
      tablesWanted: migrations.length,
      rightsMissing: hasTables ? await rightsMissing(client) : [],
      mayMigrate: isTrue((await ask(sql.owner))?.['mayMigrate']),
      synchronousCommit: textOf(commit?.['commit']),
      hasSynchronousStandby: isTrue(commit?.['standby']),
      isSynced: isTrue(commit?.['synced']),
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
  return async (text: string): Promise<Values | undefined> => {
    const answer = await client.query<Values>(text).catch(() => undefined)
    return answer?.rows[0]
  }
}

async function rightsMissing(client: pg.Client): Promise<readonly string[] | undefined> {
  const answer = await client.query<Values>(sql.rights).catch(() => undefined)
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
