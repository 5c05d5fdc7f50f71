import { hour } from '../../../platform/clock.ts'
import type { Millis } from '../../../signup/signup.ts'
import { clientDigest } from '../../hashes.ts'
import { ask, givenRows, headLock, type Operation, reading, statementsOf } from '../../sql.ts'
import type { Site } from '../site.ts'
import type { Tabs } from '../tabs.ts'

/**
 * Which new tabs signups may ask for that are to be confirmed. Asking makes none: who confirms does, and counts for
 * nobody. So a tab counts for the client that asks for it, as if it had made it, for an hour.
 */

const sql = statementsOf('asked tabs', ({ given }) => ({
  // A time later than $4 does not count: after the clock was set back, it would count for too long.
  find: `SELECT key FROM asked_tab
         WHERE site = $1 AND asked_by = $2 AND asked_at > $3 AND asked_at <= $4`,
  note: `INSERT INTO asked_tab (site, asked_by, key, asked_at)
         SELECT $1, $2, wanted.key, $3 FROM ${given('wanted', '$4', { key: 'text' })} WHERE true
         ON CONFLICT (site, asked_by, key) DO UPDATE SET asked_at = excluded.asked_at`,
  forget: 'DELETE FROM asked_tab WHERE site = $1 AND asked_at <= $2',
}))

type TabbedSite = Site & { readonly tabs: Tabs }

/** Those of these names of tabs for which the client may ask now. They count for it. */
export async function askForTabs(
  site: TabbedSite,
  names: readonly string[],
  at: Millis,
  client: string | undefined,
): Promise<ReadonlySet<string>> {
  const { id, db } = site
  const { taken, fresh } = await reading(db, asking(site, names, at, client))
  if (client === undefined || fresh.size === 0) return taken
  return db.transact([headLock], function* () {
    // Other requests of the client may have come in between.
    const { taken, fresh } = yield* asking(site, names, at, client)
    const keys = givenRows(Array.from(fresh, (key) => ({ key })))
    yield* ask([sql.note, id, clientDigest(client), at, keys], [sql.forget, id, at - hour])
    return taken
  })
}

/** Whether a signup for this tab would be taken. */
export async function wouldTakeTab(
  site: TabbedSite,
  name: string,
  at: Millis,
  client: string | undefined,
): Promise<boolean> {
  const { taken } = await reading(site.db, asking(site, [name], at, client))
  return taken.has(name)
}

/** Those of these names that would be taken, and the keys of those that would count for the client. */
function* asking(
  { id, tabs }: TabbedSite,
  names: readonly string[],
  at: Millis,
  client: string | undefined,
): Operation<{ readonly taken: ReadonlySet<string>; readonly fresh: ReadonlySet<string> }> {
  const limited = tabs.limited(names)
  if (limited.length === 0) return { taken: new Set(names), fresh: new Set() }
  const digest = client === undefined ? null : clientDigest(client)
  const { inAll, byClient } = yield* tabs.look(limited, at, client)
  const [{ rows }] = yield* ask([sql.find, id, digest, at - hour, at])
  const asked = new Set(rows.map(({ key }) => String(key)))
  const missing = tabs.limited(names)
  const others = missing.filter((key) => inAll > 0 && !asked.has(key))
  const fresh = new Set(others.slice(0, Math.max(0, byClient)))
  const refused = new Set(
    missing.filter((key) => !fresh.has(key) && !(inAll > 0 && asked.has(key))),
  )
  return { taken: new Set(names.filter((name) => !refused.has(tabs.named(name).key))), fresh }
}
