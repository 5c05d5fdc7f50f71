import { type Clock, systemClock } from '../../platform/clock.ts'
import { GroupCommit } from '../group-commit.ts'
import { type Commit, tellCommit } from '../commit.ts'
import type { Appended } from '../contracts/intake-log.ts'
import type {
  ComparableJournal,
  CopyableReader,
  OpenJournal,
  SitePolicies,
} from '../contracts/journal.ts'
import { Listeners } from '../listeners.ts'
import { NotedCalls } from '../noted-calls.ts'
import { onlySiteOf } from '../only-site.ts'
import { defaultPolicy, type JournalPolicy } from '../contracts/policy.ts'
import { RowComparison } from '../row-comparison.ts'
import { appendGroup, type AppendRequest } from './appends.ts'
import { SqliteCallStore } from './call-store.ts'
import { SqliteComparedSignups } from './compared-signups.ts'
import { checkCopy } from './check-copy.ts'
import { SqliteDatabase } from './database.ts'
import { SqliteDeliveryLog } from './delivery-log.ts'
import { SqliteErasure } from './erasure.ts'
import { SqliteImportLog } from './import-log.ts'
import { SqliteIntakeLog } from './intake-log.ts'
import { ownLease } from './lease.ts'
import type { Access } from './open-database.ts'
import { SqliteReader } from './reader.ts'
import { SqliteRetention } from './retention.ts'
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
    db.close()
    throw error
  }
}

/** As `openSqliteSites`, with one site. Disposing closes the journal. */
export function openSqliteJournal(
  file: string,
  policy: Partial<JournalPolicy> = {},
  { site = 'default', ...options }: SqliteOptions & { readonly site?: string } = {},
): ComparableJournal {
  return onlySiteOf(openSqliteSites(file, new Map([[site, policy]]), options))
}

/** The journal on a connection of its own, with one site. Disposing closes the connection. */
export function journalOn(
  db: SqliteDatabase,
  policy: Partial<JournalPolicy>,
  options: Pick<SqliteOptions, 'clock'>,
): ComparableJournal {
  return onlySiteOf(sitesOn(db, new Map([['default', policy]]), options))
}

function sitesOn(
  db: SqliteDatabase,
  policies: SitePolicies,
  { clock = systemClock }: Pick<SqliteOptions, 'clock'>,
): OpenJournal {
  const committed = new Listeners<Commit>()
  const commits = new GroupCommit<AppendRequest, Appended>((group) => {
    const begun = clock.elapsed()
    const answers = appendGroup(db, group)
    tellCommit(committed, answers, clock.elapsed() - begun)
    return answers
  }, clock)
  const sites = Array.from(policies, ([name, policy]) => {
    const site = openSite(db, name, { ...defaultPolicy, ...policy })
    return [name, journalOf(site, commits)] as const
  })
  return {
    sites: new Map(sites),
    backlogs: async () => backlogsIn(db),
    committed,
    [Symbol.asyncDispose]: async () => {
      await commits.drain()
      db.close()
    },
  }
}

function journalOf(
  site: SqliteSite,
  commits: GroupCommit<AppendRequest, Appended>,
): ComparableJournal {
  return {
    intake: new SqliteIntakeLog(site, commits),
    imports: new SqliteImportLog(site),
    delivery: new SqliteDeliveryLog(site),
    erasure: new SqliteErasure(site),
    retention: new SqliteRetention(site),
    reader: new SqliteReader(site),
    lease: ownLease,
    callLedger: (account, time) => new NotedCalls(new SqliteCallStore(site.db, account), time),
    comparison: async (how) => new RowComparison(new SqliteComparedSignups(site), how),
    [Symbol.asyncDispose]: () => commits.drain(),
  }
}

function backlogsIn(db: SqliteDatabase): ReadonlyMap<string, number> {
  const rows = db.read(() => db.all('backlogs'))
  return new Map(rows.map(({ name, count }) => [String(name), Number(count)]))
}

/**
 * Opens the journal in this SQLite file for reading only, beside a service. Changes nothing.
 *
 * @param names of sites to read that it may not have: they have no signups then
 * @throws Error when there is no such file, or when it is no journal of this version
 */
export function openSqliteReader(
  file: string,
  names: readonly string[] = [],
  { clock = systemClock }: Pick<SqliteOptions, 'clock'> = {},
): CopyableReader {
  const db = new SqliteDatabase(file, { access: 'read', findsAddresses: false, clock })
  const known = new Map(db.all('sites').map(({ id, name }) => [String(name), Number(id)]))
  const readers = Array.from(
    new Set([...names, ...known.keys()]),
    // No site has the id 0.
    (name) => [name, new SqliteReader({ db, id: known.get(name) ?? 0 })] as const,
  )
  return {
    sites: new Map(readers),
    copyTo: async (copy, stop) => {
      await db.copyTo(copy, stop)
      return checkCopy(copy)
    },
    [Symbol.asyncDispose]: async () => db.close(),
  }
}
