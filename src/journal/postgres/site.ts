import type { TabCursor } from '../contracts/intake-log.ts'
import { Listeners } from '../listeners.ts'
import type { JournalPolicy } from '../contracts/policy.ts'
import { newMarkerBase, newSiteCode } from '../site-code.ts'
import type { PostgresDatabase, Step } from './database.ts'
import { PostgresDefaultTab } from './default-tab.ts'
import { headLock } from './locks.ts'
import { statementsOf } from './statement.ts'

/** One site of an open journal: the parts that its logs and its reader share. */
export interface PostgresSite {
  readonly db: PostgresDatabase
  readonly id: number
  /** Fails when another journal was moved to the database. */
  readonly guard: Step
  /** Random. Part of each batch's fingerprint, so that batches of different journals differ. */
  readonly code: string
  readonly policy: JournalPolicy
  readonly defaultTab: PostgresDefaultTab
  /** Gets the number of added signups after each commit of this process. */
  readonly appended: Listeners<number>
  /** Gets the cursors of the tabs of each batch that this process settles. */
  readonly settled: Listeners<readonly TabCursor[]>
  /** With which addresses and idempotency keys are hashed. */
  readonly secret: string
}

const sql = statementsOf('site', {
  find: 'SELECT id, code FROM rollcall.site WHERE name = $1',
  all: 'SELECT id, name FROM rollcall.site',
  add: `INSERT INTO rollcall.site (id, name, code, marker_base)
        SELECT coalesce(max(id), 0) + 1, $1, $2, $3 FROM rollcall.site
        ON CONFLICT (name) DO NOTHING`,
  backlogs: `SELECT site.name, coalesce(sum(accepted - coalesce(written, 0)), 0)::bigint AS count
             FROM rollcall.site LEFT JOIN rollcall.tab ON tab.site = site.id
             LEFT JOIN rollcall.progress ON progress.tab = tab.id
             GROUP BY site.name ORDER BY site.name`,
})

export async function openSite(
  { db, guard, secret }: Pick<PostgresSite, 'db' | 'guard' | 'secret'>,
  name: string,
  policy: JournalPolicy,
): Promise<PostgresSite> {
  const row = (await db.get(sql.find, name)) ?? (await addSite(db, name))
  const id = Number(row['id'])
  return {
    db,
    id,
    guard,
    code: String(row['code']),
    policy,
    defaultTab: await PostgresDefaultTab.open(db, id, policy),
    appended: new Listeners(),
    settled: new Listeners(),
    secret,
  }
}

/** How many signups wait for delivery, by the name of the site. */
export async function backlogsIn(db: PostgresDatabase): Promise<ReadonlyMap<string, number>> {
  const rows = await db.all(sql.backlogs)
  return new Map(rows.map(({ name, count }) => [String(name), Number(count)]))
}

/** The ids of all sites, by name. */
export async function siteIds(db: PostgresDatabase): Promise<ReadonlyMap<string, number>> {
  const rows = await db.all(sql.all)
  return new Map(rows.map(({ name, id }) => [String(name), Number(id)]))
}

async function addSite(db: PostgresDatabase, name: string) {
  const [, found] = await db.inOneGo(headLock, [
    [sql.add, name, newSiteCode(), newMarkerBase()],
    [sql.find, name],
  ])
  return found?.[0] ?? {}
}
