import { type Clock, systemClock } from '../../platform/clock.ts'
import type { ComparableJournal, CopyableReader } from '../journal.ts'
import { NotedCalls } from '../noted-calls.ts'
import { defaultPolicy, type JournalPolicy } from '../policy.ts'
import { RowComparison } from '../row-comparison.ts'
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
import { openSite } from './site.ts'

export interface SqliteOptions {
  /** The name of the site. */
  readonly site?: string
  /** `beside` when a service may have the journal open with other settings. */
  readonly access?: Exclude<Access, 'read'>
  readonly clock?: Pick<Clock, 'elapsed' | 'sleep'>
  /** Called in each transaction before its changes. When it throws, nothing is changed. */
  readonly assertWritable?: () => void
}

/**
 * Opens the journal in this SQLite file. Makes or migrates its tables if necessary. Every commit is
 * synced to disk. Any number of processes may have the file open.
 *
 * @throws Error when the file is not a journal, or was written by a newer version.
 */
export function openSqliteJournal(
  file: string,
  policy: Partial<JournalPolicy> = {},
  options: SqliteOptions = {},
): ComparableJournal {
  const { access = 'own', clock = systemClock, assertWritable } = options
  const findsAddresses = policy.duplicates === 'ignore'
  const db = new SqliteDatabase(file, { access, findsAddresses, clock, assertWritable })
  return journalOn(db, policy, options)
}

/** The journal of one process on a connection that no other process uses. Disposing closes the connection. */
export function journalOn(
  db: SqliteDatabase,
  policy: Partial<JournalPolicy>,
  { site: name = 'default', clock = systemClock }: SqliteOptions,
): ComparableJournal {
  const site = openSite(db, name, { ...defaultPolicy, ...policy })
  const intake = new SqliteIntakeLog(site, clock)
  return {
    intake,
    imports: new SqliteImportLog(site),
    delivery: new SqliteDeliveryLog(site),
    erasure: new SqliteErasure(site),
    retention: new SqliteRetention(site),
    reader: new SqliteReader(site),
    lease: ownLease,
    callLedger: (account, time) => new NotedCalls(new SqliteCallStore(db, account), time),
    comparison: async (how) => new RowComparison(new SqliteComparedSignups(site), how),
    [Symbol.asyncDispose]: async () => {
      await intake.drain()
      db.close()
    },
  }
}

/**
 * Opens the journal in this SQLite file for reading only, beside a service. Changes nothing.
 *
 * @throws Error when there is no such file, or when it is no journal of this version
 */
export function openSqliteReader(
  file: string,
  { site: name = 'default', clock = systemClock }: Pick<SqliteOptions, 'site' | 'clock'> = {},
): CopyableReader {
  const db = new SqliteDatabase(file, { access: 'read', findsAddresses: false, clock })
  // A journal that was never served has no site yet, and no signups of it.
  const id = Number(db.get('site', name)?.['id'] ?? 0)
  return {
    reader: new SqliteReader({ db, id }),
    copyTo: async (copy, stop) => {
      await db.copyTo(copy, stop)
      return checkCopy(copy)
    },
    [Symbol.asyncDispose]: async () => db.close(),
  }
}
