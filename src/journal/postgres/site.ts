import { systemClock, type Clock } from '../../platform/clock.ts'
import { defaultPolicy, type JournalPolicy, type SitePolicies } from '../contracts/journal.ts'
import { keyHashing, newSecret, type Secret } from '../hashes.ts'
import { Listeners } from '../../platform/listeners.ts'
import { flagOf, headLock, reading, rowOf, siteLock, statementsOf, textOf } from '../sql.ts'
import { factOf } from '../tables/facts.ts'
import { peopleWhere } from '../tables/layout.ts'
import { filling, hashingOf } from '../tables/people.ts'
import { stepsToUnseat } from '../tables/seats.ts'
import { addSite, findSite, linkKeyFact, linkKeyOf, type Site } from '../tables/site.ts'
import { notingWordings, wordingsToNote } from '../tables/pending/wordings.ts'
import { DatabaseTime } from './database-time.ts'
import { type DatabaseOptions, orClose, PostgresDatabase } from './database.ts'
import { migrate } from './migrate.ts'

const sql = statementsOf('postgres secret', {
  make: `INSERT INTO secret (only_row, value) VALUES (true, $1) ON CONFLICT DO NOTHING`,
  read: 'SELECT value FROM secret',
  hasHashes: `SELECT EXISTS (SELECT 1 FROM tombstone)
                  OR EXISTS (SELECT 1 FROM signup WHERE ${peopleWhere('listed')})
                  OR EXISTS (SELECT 1 FROM signup WHERE ${peopleWhere('held')})
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
    const secret = await takeSecret(db, onNewSecret)
    const time = await DatabaseTime.open(db, clock)
    const open = async ([name, policy]: readonly [string, Partial<JournalPolicy>]) => {
      const site = await openSite({ db, secret, now: () => time.now() }, name, {
        ...defaultPolicy,
        ...policy,
      })
      return [name, site] as const
    }
    return { db, time, sites: new Map(await Promise.all(Array.from(policies, open))) }
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
  { db, secret, now }: Pick<PostgresSite, 'db' | 'secret' | 'now'>,
  name: string,
  policy: JournalPolicy,
): Promise<PostgresSite> {
  const { id, code } =
    (await reading(db, findSite(name))) ?? (await db.transact([headLock], () => addSite(name)))
  const linkKey =
    (await reading(db, factOf(id, linkKeyFact))) ??
    (await db.transact([siteLock(id)], () => linkKeyOf(id)))
  if ((await reading(db, wordingsToNote({ id, policy }))) !== undefined) {
    await db.transact([siteLock(id)], () => notingWordings({ id, policy }))
  }
  const unseating = await reading(db, stepsToUnseat({ id, policy }))
  if (unseating.length > 0) await db.change([headLock], ...unseating)
  const hashOf = await reading(db, hashingOf({ id, secret, policy }))
  const fill = (from: number) => db.transact([siteLock(id)], () => filling({ id, secret }, from))
  for (let from = hashOf('') === null ? undefined : 0; from !== undefined;) from = await fill(from)
  return {
    db,
    id,
    name,
    code,
    policy,
    linkKey,
    appended: new Listeners(),
    settled: new Listeners(),
    secret,
    hashOf,
    keyHashOf: keyHashing(secret),
    now,
    // The database itself removes the copies that it has: docs/decisions/forgetting.md says which, and when.
    noteErased: () => [],
    scrub: async () => true,
  }
}
