import { type Clock, systemClock } from '../../platform/clock.ts'
import { type Commit, tellCommit } from '../commit.ts'
import type {
  ComparableJournal,
  OpenJournal,
  OpenReader,
  SitePolicies,
} from '../contracts/journal.ts'
import { Listeners } from '../listeners.ts'
import { NotedCalls } from '../noted-calls.ts'
import { onlySiteOf } from '../only-site.ts'
import { defaultPolicy, type JournalPolicy } from '../contracts/policy.ts'
import { RowComparison } from '../row-comparison.ts'
import { AppendGroups } from './append-groups.ts'
import { PostgresCallStore } from './call-store.ts'
import { commitAppends, type SiteRequest } from './commit-appends.ts'
import { PostgresComparedSignups } from './compared-signups.ts'
import { leaseLimits } from './connections.ts'
import { type DatabaseOptions, PostgresDatabase, type Step } from './database.ts'
import { DatabaseTime } from './database-time.ts'
import { PostgresDeliveryLog } from './delivery-log.ts'
import { PostgresErasure } from './erasure.ts'
import { openGuard } from './guard.ts'
import { PostgresImportLog } from './import-log.ts'
import { PostgresIntakeLog } from './intake-log.ts'
import { PostgresLease, PostgresLeases } from './lease.ts'
import { expectCurrent, hasTables, makeAddressIndex, migrate } from './migrate.ts'
import { PostgresReader } from './reader.ts'
import { PostgresRetention } from './retention.ts'
import { takeSecret } from './secret.ts'
import { backlogsIn, openSite, siteIds, type PostgresSite } from './site.ts'

export interface PostgresOptions extends Pick<DatabaseOptions, 'limits'> {
  /** `beside` when services of other versions may have the journal open. */
  readonly access?: 'own' | 'beside'
  readonly clock?: Pick<Clock, 'elapsed' | 'sleep'>
  /** Called when a new secret replaces a lost one. Without it, such a journal is not opened. */
  readonly onNewSecret?: () => void
}

/** The name of the only site. */
interface OneSite {
  readonly site?: string
}

export interface PostgresJournal extends ComparableJournal {
  /** The time of the database. */
  readonly time: Pick<Clock, 'now' | 'elapsed'>
}

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
  const { db, guard, sites } = await openSites(url, policies, options)
  const time = await orClose(db, () => DatabaseTime.open(db, clock))
  const leases = new PostgresLeases(
    new PostgresDatabase(url, { clock, limits: leaseLimits }),
    guard,
  )
  const committed = new Listeners<Commit>()
  const groups = new AppendGroups<SiteRequest>({
    commit: async (group) => {
      const begun = clock.elapsed()
      const answers = await commitAppends(db, clock, group)
      const made = answers.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
      tellCommit(committed, made, clock.elapsed() - begun)
      return answers
    },
    isAlone: ({ site, signups }) => signups.some(({ sheetTab }) => !site.tabs.isKnown(sheetTab)),
  })
  const shared = { leases, groups, time, clock }
  const journals = Array.from(sites, ([name, site]) => [name, journalOf(site, shared)] as const)
  return {
    sites: new Map(journals),
    backlogs: () => backlogsIn(db),
    committed,
    [Symbol.asyncDispose]: async () => {
      for (const [, journal] of journals) await journal[Symbol.asyncDispose]()
      await leases.db.close()
      await db.close()
    },
  }
}

/** As `openPostgresSites`, with one site. Disposing closes the journal. */
export async function openPostgresJournal(
  url: string,
  policy: Partial<JournalPolicy> = {},
  { site = 'default', ...options }: PostgresOptions & OneSite = {},
): Promise<PostgresJournal> {
  return onlySiteOf(
    await openPostgresSites(url, new Map([[site, policy]]), options),
  ) as PostgresJournal
}

/** What all sites of an open journal share. */
interface Shared {
  readonly leases: PostgresLeases
  readonly groups: AppendGroups<SiteRequest>
  readonly time: PostgresJournal['time']
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
}

function journalOf(site: PostgresSite, { leases, groups, time, clock }: Shared): PostgresJournal {
  const lease = new PostgresLease(site.id, leases)
  const imports = new PostgresImportLog(site, clock)
  return {
    intake: new PostgresIntakeLog(site, groups),
    imports,
    delivery: new PostgresDeliveryLog(site, lease),
    erasure: new PostgresErasure(site),
    retention: new PostgresRetention(site),
    reader: new PostgresReader(site),
    lease,
    callLedger: (account, by) => new NotedCalls(new PostgresCallStore(site.db, account), by),
    comparison: async (how) => new RowComparison(await PostgresComparedSignups.open(site), how),
    time,
    [Symbol.asyncDispose]: async () => {
      imports[Symbol.dispose]()
      await groups.drain()
    },
  }
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
    const known = await siteIds(db)
    const readers = Array.from(
      new Set([...names, ...known.keys()]),
      // No site has the id 0.
      (name) => [name, new PostgresReader({ db, id: known.get(name) ?? 0 })] as const,
    )
    const time = await DatabaseTime.open(db, clock)
    return { sites: new Map(readers), time, [Symbol.asyncDispose]: () => db.close() }
  })
}

/** Whether the database of this URL has a journal, of any version. */
export async function hasPostgresJournal(
  url: string,
  { clock = systemClock, limits }: Pick<PostgresOptions, 'clock' | 'limits'> = {},
): Promise<boolean> {
  const db = new PostgresDatabase(url, { clock, limits })
  await using _closed = { [Symbol.asyncDispose]: () => db.close() }
  return await hasTables(db)
}

/** Opens one site of the journal in the database of this URL, with its parts in the open. */
export async function openPostgresSite(
  url: string,
  policy: Partial<JournalPolicy> = {},
): Promise<PostgresSite> {
  const { sites } = await openSites(url, new Map([['default', policy]]), {})
  const [site] = sites.values()
  if (!site) throw new Error('The journal was not opened for one site.')
  return site
}

async function openSites(
  url: string,
  policies: SitePolicies,
  { access = 'own', clock = systemClock, limits, onNewSecret }: PostgresOptions,
): Promise<{ db: PostgresDatabase; guard: Step; sites: ReadonlyMap<string, PostgresSite> }> {
  const db = new PostgresDatabase(url, { clock, limits })
  return orClose(db, async () => {
    if (access === 'beside' && (await hasTables(db))) await expectCurrent(db)
    await migrate(db)
    const given = [...policies.values()]
    if (given.some(({ duplicates }) => duplicates === 'ignore')) await makeAddressIndex(db)
    // What is read after this may be of a later journal. Then the guard fails.
    const guard = await openGuard(db)
    db.guardWith(guard)
    const secret = await takeSecret(db, onNewSecret)
    const open = async ([name, policy]: readonly [string, Partial<JournalPolicy>]) => {
      const site = await openSite({ db, guard, secret }, name, { ...defaultPolicy, ...policy })
      return [name, site] as const
    }
    return { db, guard, sites: new Map(await Promise.all(Array.from(policies, open))) }
  })
}

async function orClose<T>(db: PostgresDatabase, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await db.close()
    throw error
  }
}
