import { type Clock, systemClock } from '../../platform/clock.ts'
import {
  type Commit,
  type ComparableJournal,
  type OpenJournal,
  type OpenReader,
  type SitePolicies,
} from '../contracts/journal.ts'
import { Listeners, tellCommit } from '../listeners.ts'
import { comparisonOf } from '../row-comparison.ts'
import { callLedgerOf } from '../tables/call-ledger.ts'
import { deliveryOf } from '../tables/delivery.ts'
import { erasureOf } from '../tables/erasure.ts'
import { SiteIntake, type SiteRequest } from '../tables/intake.ts'
import { backlogsIn, readersIn, readerOf } from '../tables/reader.ts'
import { retentionOf } from '../tables/retention.ts'
import { waitingIn } from '../tables/waiting.ts'
import { AppendGroups } from './append-groups.ts'
import { commitAppends } from './appends.ts'
import { leaseLimits } from './connections.ts'
import { orClose, PostgresDatabase } from './database.ts'
import { DatabaseTime } from './database-time.ts'
import { postgresImports } from './imports.ts'
import { PostgresLease } from './lease.ts'
import { expectCurrent, hasTables } from './migrate.ts'
import { openSites, type PostgresOptions, type PostgresSite } from './site.ts'

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
  const { db, journal, sites } = await openSites(url, policies, options)
  const time = await orClose(db, () => DatabaseTime.open(db, clock))
  const leases = new PostgresDatabase(url, { clock, limits: leaseLimits })
  const holder = crypto.randomUUID()
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
  const journals = Array.from(sites, ([name, site]) => {
    const lease = new PostgresLease(leases, { site: site.id, holder, journal })
    return [name, journalOf(site, { lease, groups, time, clock })] as const
  })
  return {
    sites: new Map(journals),
    backlogs: () => backlogsIn(db),
    onCommit: (listener) => committed.add(listener),
    [Symbol.asyncDispose]: async () => {
      for (const [, journal] of journals) await journal[Symbol.asyncDispose]()
      await leases.close()
      await db.close()
    },
  }
}

/** At most how many waiting signups of a tab are read at once. That takes 3 ms of this process. */
const waitingMax = 2000

/** What a site's journal is made of besides its tables. */
interface Parts {
  readonly lease: PostgresLease
  readonly groups: AppendGroups<SiteRequest>
  readonly time: PostgresJournal['time']
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
}

function journalOf(site: PostgresSite, { lease, groups, time, clock }: Parts): PostgresJournal {
  const imports = postgresImports(site, clock)
  return {
    intake: new SiteIntake(site, groups),
    imports,
    delivery: deliveryOf(site, {
      waiting: waitingIn(site.db, waitingMax),
      assertDelivers: () => lease.assertTerm(),
    }),
    erasure: erasureOf(site),
    retention: retentionOf(site),
    reader: readerOf(site),
    lease,
    callLedger: (account, by) => callLedgerOf(site.db, account, by),
    comparison: (how) => comparisonOf(site, how),
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
    const sites = await readersIn(db, names)
    const time = await DatabaseTime.open(db, clock)
    return { sites, time, [Symbol.asyncDispose]: () => db.close() }
  })
}

/** Whether the database of this URL has a journal, of any version. */
export async function hasPostgresJournal(
  url: string,
  { clock = systemClock, limits }: Pick<PostgresOptions, 'clock' | 'limits'> = {},
): Promise<boolean> {
  await using db = new PostgresDatabase(url, { clock, limits })
  return await hasTables(db)
}
