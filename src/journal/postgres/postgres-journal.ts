import { type Clock, systemClock } from '../../platform/clock.ts'
import type { ComparableJournal, OpenReader } from '../journal.ts'
import { NotedCalls } from '../noted-calls.ts'
import { defaultPolicy, type JournalPolicy } from '../policy.ts'
import { RowComparison } from '../row-comparison.ts'
import { PostgresCallStore } from './call-store.ts'
import { PostgresComparedSignups } from './compared-signups.ts'
import { leaseLimits } from './connections.ts'
import { type DatabaseOptions, PostgresDatabase } from './database.ts'
import { DatabaseTime } from './database-time.ts'
import { PostgresDeliveryLog } from './delivery-log.ts'
import { PostgresErasure } from './erasure.ts'
import { openGuard } from './guard.ts'
import { PostgresImportLog } from './import-log.ts'
import { PostgresIntakeLog } from './intake-log.ts'
import { PostgresLease } from './lease.ts'
import { expectCurrent, hasTables, makeAddressIndex, migrate } from './migrate.ts'
import { PostgresReader } from './reader.ts'
import { PostgresRetention } from './retention.ts'
import { findSite, openSite, type PostgresSite } from './site.ts'

export interface PostgresOptions extends Pick<DatabaseOptions, 'limits'> {
  /** The name of the site. */
  readonly site?: string
  /** `beside` when services of other versions may have the journal open. */
  readonly access?: 'own' | 'beside'
  readonly clock?: Pick<Clock, 'elapsed' | 'sleep'>
  /** Called when a new secret replaces a lost one. Without it, such a journal is not opened. */
  readonly onNewSecret?: () => void
}

export interface PostgresJournal extends ComparableJournal {
  /** The time of the database. */
  readonly time: Pick<Clock, 'now' | 'elapsed'>
}

/**
 * Opens the journal in the database of this URL. Makes or migrates its tables if necessary. Any number of
 * processes may have it open.
 *
 * @throws JournalUnavailable when the database cannot be used; Error when a newer version made the journal
 */
export async function openPostgresJournal(
  url: string,
  policy: Partial<JournalPolicy> = {},
  options: PostgresOptions = {},
): Promise<PostgresJournal> {
  const { clock = systemClock } = options
  const site = await openPostgresSite(url, policy, options)
  const time = await orClose(site.db, () => DatabaseTime.open(site.db, clock))
  const intake = new PostgresIntakeLog(site, clock)
  const leaseDb = new PostgresDatabase(url, { clock, limits: leaseLimits })
  const lease = new PostgresLease({ ...site, db: leaseDb })
  const imports = new PostgresImportLog(site, clock)
  return {
    intake,
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
      await intake.drain()
      await leaseDb.close()
      await site.db.close()
    },
  }
}

/**
 * Opens the journal in the database of this URL for reading only. Changes nothing.
 *
 * @throws JournalUnavailable when the database cannot be used; Error when there is no journal, or one of
 *   another version
 */
export async function openPostgresReader(
  url: string,
  { site = 'default', clock = systemClock, limits }: Omit<PostgresOptions, 'access'> = {},
): Promise<OpenReader> {
  const db = new PostgresDatabase(url, { clock, limits })
  return orClose(db, async () => {
    await expectCurrent(db)
    const reader = new PostgresReader({ db, id: await findSite(db, site) })
    const time = await DatabaseTime.open(db, clock)
    return { reader, time, [Symbol.asyncDispose]: () => db.close() }
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

/** Opens a site of the journal in the database of this URL. Makes or migrates its tables if necessary. */
export async function openPostgresSite(
  url: string,
  policy: Partial<JournalPolicy> = {},
  {
    site = 'default',
    access = 'own',
    clock = systemClock,
    limits,
    onNewSecret,
  }: PostgresOptions = {},
): Promise<PostgresSite> {
  const db = new PostgresDatabase(url, { clock, limits })
  return orClose(db, async () => {
    if (access === 'beside' && (await hasTables(db))) await expectCurrent(db)
    await migrate(db)
    if (policy.duplicates === 'ignore') await makeAddressIndex(db)
    // What is read after this may be of a later journal. Then the guard fails.
    const guard = await openGuard(db)
    db.guardWith(guard)
    return openSite(db, site, guard, { ...defaultPolicy, ...policy }, onNewSecret)
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
