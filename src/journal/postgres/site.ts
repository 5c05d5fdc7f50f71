import { systemClock, type Clock } from '../../platform/clock.ts'
import {
  defaultPolicy,
  type JournalPolicy,
  needsAddresses,
  type SitePolicies,
} from '../contracts/journal.ts'
import { newSecret, type Secret } from '../hashes.ts'
import { Listeners } from '../../platform/listeners.ts'
import { flagOf, headLock, reading, rowOf, siteLock, statementsOf, textOf } from '../sql.ts'
import { DefaultTabName } from '../tables/default-tab.ts'
import { factOf } from '../tables/facts.ts'
import { addSite, findSite, linkKeyFact, linkKeyOf, type Site } from '../tables/site.ts'
import { type DatabaseOptions, orClose, PostgresDatabase } from './database.ts'
import { makeAddressIndex, migrate } from './migrate.ts'

const sql = statementsOf('postgres secret', {
  make: `INSERT INTO secret (only_row, value) VALUES (true, $1) ON CONFLICT DO NOTHING`,
  read: 'SELECT value FROM secret',
  hasHashes: `SELECT EXISTS (SELECT 1 FROM tombstone)
                  OR EXISTS (SELECT 1 FROM kept_address)
                  OR EXISTS (SELECT 1 FROM message)
                  OR EXISTS (SELECT 1 FROM block)
                  OR EXISTS (SELECT 1 FROM idempotency_key) AS found`,
})

export interface PostgresSite extends Site {
  readonly db: PostgresDatabase
}

export interface PostgresOptions extends Pick<DatabaseOptions, 'limits'> {
  readonly clock?: Pick<Clock, 'elapsed' | 'sleep'>
  /** Called when a new secret replaces a lost one. Without it, such a journal is not opened. */
  readonly onNewSecret?: () => void
}

/** Opens the journal in the database of this URL, as `openPostgresSites` says. The sites are by name. */
export async function openSites(
  url: string,
  policies: SitePolicies,
  { clock = systemClock, limits, onNewSecret }: PostgresOptions = {},
) {
  const db = new PostgresDatabase(url, { clock, limits })
  return orClose(db, async () => {
    await migrate(db)
    const given = [...policies.values()]
    if (given.some(needsAddresses)) await makeAddressIndex(db)
    // What is read after this may be of a later journal. Then no transaction succeeds.
    const journal = await db.keepToJournal()
    const secret = await takeSecret(db, onNewSecret)
    const open = async ([name, policy]: readonly [string, Partial<JournalPolicy>]) => {
      const site = await openSite({ db, secret }, name, { ...defaultPolicy, ...policy })
      return [name, site] as const
    }
    return { db, journal, sites: new Map(await Promise.all(Array.from(policies, open))) }
  })
}

/**
 * The secret with which the journal hashes addresses and idempotency keys: 64 hexadecimal digits. All
 * instances share it. The first one makes it.
 *
 * @param onNew called when a new secret replaces the one with which the journal has made hashes
 * @throws Error in that case without `onNew`
 */
async function takeSecret(db: PostgresDatabase, onNew?: () => void): Promise<Secret> {
  const [known, hashes] = await db.query([sql.read], [sql.hasHashes])
  const secret = textOf(known.rows[0]?.['value'])
  if (secret !== undefined) return secret
  const isLost = flagOf(rowOf(hashes)['found'])
  if (isLost && !onNew) {
    throw new Error(
      'The key of the hashes, the table rollcall.secret, is missing in the database. Restore the table from ' +
        'its backup, or start the service once, which makes a new key.',
    )
  }
  const [, made] = await db.change([], [sql.make, newSecret()], [sql.read])
  if (isLost) onNew?.()
  return String(rowOf(made)['value'])
}

async function openSite(
  { db, secret }: Pick<PostgresSite, 'db' | 'secret'>,
  name: string,
  policy: JournalPolicy,
): Promise<PostgresSite> {
  const { id, code } =
    (await reading(db, findSite(name))) ?? (await db.transact([headLock], () => addSite(name)))
  const linkKey =
    (await reading(db, factOf(id, linkKeyFact))) ??
    (await db.transact([siteLock(id)], () => linkKeyOf(id)))
  const defaultTab = new DefaultTabName({ db, id, policy })
  const close = () => db.transact([headLock, siteLock(id)], () => defaultTab.closeLeft())
  if (await reading(db, defaultTab.isLeft())) while (!(await close()));
  return {
    db,
    id,
    name,
    code,
    policy,
    defaultTab,
    linkKey,
    appended: new Listeners(),
    settled: new Listeners(),
    secret,
    // The database itself removes the copies that it has: docs/decisions/forgetting.md says which, and when.
    noteErased: () => [],
    scrub: async () => true,
  }
}
