import { type Clock, systemClock } from '../../platform/clock.ts'
import { overflowKeyOf } from '../../signup/closing.ts'
import type { Imported } from '../contracts/import-log.ts'
import type { Commit, OpenJournal, OpenReader, SitePolicies } from '../contracts/journal.ts'
import { Listeners } from '../../platform/listeners.ts'
import { headLock, statementsOf } from '../sql.ts'
import { deciding, decisions, type ImportEngine } from '../tables/imports.ts'
import type { SiteRequest } from '../tables/intake.ts'
import { journalOf, openJournal } from '../tables/journal.ts'
import { rowStatus } from '../tables/layout.ts'
import { readersIn } from '../tables/reader.ts'
import { AppendGroups } from './append-groups.ts'
import { commitAppends } from './appends.ts'
import { leaseLimits } from './connections.ts'
import { orClose, PostgresDatabase } from './database.ts'
import { DatabaseTime } from './database-time.ts'
import { leaseOf } from './lease.ts'
import { expectCurrent } from './migrate.ts'
import { addingPlaced, listNames, listsOf, listTypes } from './new-signups.ts'
import { resolveLostCommit } from './resolve-lost-commit.ts'
import { openSites, type PostgresOptions, type PostgresSite } from './site.ts'

/** At most how many waiting signups of a tab are read at once. That takes 3 ms of this process. */
const waitingMax = 2000

/**
 * Opens the journal in the database of this URL with these sites. Makes or migrates its tables if
 * necessary, and adds the sites that it does not have. Any number of processes may have it open.
 *
 * @throws JournalUnavailable when the database cannot be used; Error when a newer version made the journal
 */
export async function openPostgresSites(
  url: string,
  policies: SitePolicies,
  options: PostgresOptions = {},
): Promise<OpenJournal> {
  const { clock = systemClock } = options
  const { db, time, sites } = await openSites(url, policies, options)
  const leases = new PostgresDatabase(url, { clock, limits: leaseLimits })
  const holder = crypto.randomUUID()
  const commits = new Listeners<Commit>()
  const appends = new AppendGroups<SiteRequest>({
    commit: (group) => commitAppends(db, clock, group, commits),
    isAlone: ({ site, signups }) => !site.tabs.wereThere(signups),
  })
  const journals = Array.from(sites, ([name, site]) => {
    const lease = leaseOf(leases, { site: site.id, holder })
    const imports = importsIn(site, clock)
    const engine = { appends, imports, waitingMax, ...lease, time }
    return [name, journalOf(site, engine)] as const
  })
  return openJournal(db, new Map(journals), commits, async () => {
    await leases[Symbol.asyncDispose]()
    await db[Symbol.asyncDispose]()
  })
}

/**
 * Opens the journal in the database of this URL for reading only. Changes nothing.
 *
 * @param names of sites to read that it may not have: they have no signups then
 * @throws JournalUnavailable when the database cannot be used; Error when there is no journal, or one of
 *   another version
 */
export async function openPostgresReader(
  url: string,
  names: readonly string[] = [],
  { clock = systemClock, limits }: Pick<PostgresOptions, 'clock' | 'limits'> = {},
): Promise<OpenReader> {
  const db = new PostgresDatabase(url, { clock, limits })
  return orClose(db, async () => {
    await expectCurrent(db)
    const sites = await readersIn(db, names)
    const time = await DatabaseTime.open(db, clock)
    return { sites, time, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
  })
}

const sql = statementsOf('postgres imports', (dialect) => ({
  add: `
    WITH ${deciding(dialect)}, placed AS (
      SELECT cells.*, decided.tab,
        ${dialect.lastPosition} + row_number() OVER (ORDER BY no) AS position
      FROM decided
      JOIN unnest(${listTypes(5)}) WITH ORDINALITY AS cells (${listNames}, no) USING (no)
      WHERE result = 'added'
    ), ${addingPlaced(String(rowStatus.wanted), `(SELECT key FROM tab WHERE tab.id = added.tab) = $14::text`)}
    ${decisions(dialect)}`,
}))

/** How imports add signups here. */
function importsIn(
  { db, hashOf, policy }: Pick<PostgresSite, 'db' | 'hashOf' | 'policy'>,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
): ImportEngine {
  return {
    looksFirst: false,
    add: async (values, signups, before, behind) => {
      const hashed = signups.map((signup) => ({ ...signup, hash: hashOf(signup.email) }))
      const overflowKey = overflowKeyOf(policy.closing) ?? null
      const add = [sql.add, ...values, ...listsOf(hashed), overflowKey] as const
      const answers = await db.changeUnsynced([headLock], ...before, add, ...behind)
      return answers[before.length]?.rows ?? []
    },
    settle: async (signups, add) => {
      const requests = signups.map((signup) => ({ signups: [signup] }))
      const { outcomes, failure } = await resolveLostCommit(
        db,
        clock,
        requests,
        (rest) => add(rest.flatMap((request) => request.signups)),
        (): Imported => 'added',
      )
      return { results: requests.flatMap((request) => outcomes.get(request) ?? []), failure }
    },
    flush: () => db.putOnDisk(),
  }
}
