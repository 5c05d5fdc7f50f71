import { type Clock, systemClock } from '../../platform/clock.ts'
import { GroupCommit } from './group-commit.ts'
import type { Appended } from '../contracts/intake-log.ts'
import type {
  Commit,
  ComparableJournal,
  OpenJournal,
  OpenReader,
  SitePolicies,
} from '../contracts/journal.ts'
import type { Lease } from '../contracts/lease.ts'
import { Listeners, tellCommit } from '../listeners.ts'
import { comparisonOf } from '../row-comparison.ts'
import type { Operation } from '../sql.ts'
import { callLedgerOf } from '../tables/call-ledger.ts'
import { deliveryOf } from '../tables/delivery.ts'
import { erasureOf } from '../tables/erasure.ts'
import { SiteIntake, type SiteRequest } from '../tables/intake.ts'
import { backlogsIn, readersIn, readerOf } from '../tables/reader.ts'
import { retentionOf } from '../tables/retention.ts'
import { waitingIn } from '../tables/waiting.ts'
import { appendGroup, sqliteImports } from './appends.ts'
import { SqliteDatabase } from './database.ts'
import type { Access } from './open-database.ts'
import { openSite, type SqliteSite } from './site.ts'

export interface SqliteOptions {
  /** `beside` when a service may have the journal open with other settings. */
  readonly access?: Exclude<Access, 'read'>
  readonly clock?: Pick<Clock, 'elapsed' | 'sleep'>
  /** Called in each transaction before its changes. When it throws, nothing is changed. */
  readonly assertWritable?: () => void
}

/**
 * Opens the journal in this SQLite file with these sites. Makes or migrates its tables if necessary, and
 * adds the sites that it does not have. Every commit is synced to disk. Any number of processes may have
 * the file open.
 *
 * @throws Error when the file is not a journal, or was written by a newer version.
 */
export function openSqliteSites(
  file: string,
  policies: SitePolicies,
  options: SqliteOptions = {},
): OpenJournal {
  const { access = 'own', clock = systemClock, assertWritable } = options
  const findsAddresses = [...policies.values()].some(({ duplicates }) => duplicates === 'ignore')
  const db = new SqliteDatabase(file, { access, findsAddresses, clock, assertWritable })
  try {
    return sitesOn(db, policies, { clock })
  } catch (error) {
    db[Symbol.dispose]()
    throw error
  }
}

/** How many waiting signups of a tab are read at once. That takes less than a millisecond. */
const waitingMax = 100

/** The journal on a connection of its own. Disposing closes the connection. */
export function sitesOn(
  db: SqliteDatabase,
  policies: SitePolicies,
  { clock = systemClock }: Pick<SqliteOptions, 'clock'>,
): OpenJournal {
  const committed = new Listeners<Commit>()
  const commits = new GroupCommit<SiteRequest, Appended>((group) => {
    const begun = clock.elapsed()
    const answers = appendGroup(db, group)
    tellCommit(committed, answers, clock.elapsed() - begun)
    return answers
  }, clock)
  const sites = Array.from(policies, ([name, policy]) => {
    const site = openSite(db, name, policy)
    return [name, journalOf(site, commits)] as const
  })
  return {
    sites: new Map(sites),
    backlogs: () => backlogsIn(db),
    onCommit: (listener) => committed.add(listener),
    [Symbol.asyncDispose]: async () => {
      for (const [, journal] of sites) await journal[Symbol.asyncDispose]()
      db[Symbol.dispose]()
    },
  }
}

function journalOf(
  site: SqliteSite,
  commits: GroupCommit<SiteRequest, Appended>,
): ComparableJournal {
  const imports = sqliteImports(site)
  return {
    intake: new SiteIntake(site, commits),
    imports,
    delivery: deliveryOf(site, { waiting: waitingIn(site.db, waitingMax), assertDelivers }),
    erasure: erasureOf(site),
    retention: retentionOf(site),
    reader: readerOf(site),
    lease: ownLease,
    callLedger: (account, by) => callLedgerOf(site.db, account, by),
    comparison: (how) => comparisonOf(site, how),
    [Symbol.asyncDispose]: async () => {
      imports[Symbol.dispose]()
      await commits.drain()
    },
  }
}

/** The service that has locked `DATA_DIR` is the only one, so it always holds the lease. */
const ownLease: Lease = {
  hold: async () => ({ kind: 'held', term: 1, forMs: Infinity }),
  release: async () => undefined,
}

/** So nobody else delivers. */
function* assertDelivers(): Operation<void> {
  yield []
}

/**
 * Opens the journal in this SQLite file for reading only, beside a service. Changes nothing.
 *
 * @param names of sites to read that it may not have: they have no signups then
 * @throws Error when there is no such file, or when it is no journal of this version
 */
export async function openSqliteReader(
  file: string,
  names: readonly string[] = [],
  { clock = systemClock }: Pick<SqliteOptions, 'clock'> = {},
): Promise<OpenReader> {
  const db = new SqliteDatabase(file, { access: 'read', clock })
  return {
    sites: await readersIn(db, names),
    [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
  }
}
