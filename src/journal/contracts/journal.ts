import type { Clock } from '../../platform/clock.ts'
import type { CallLedger } from './call-ledger.ts'
import type { Commit } from '../commit.ts'
import type { CompareOptions, Comparison } from './comparison.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { Erasure } from './erasure.ts'
import type { ImportLog } from './import-log.ts'
import type { IntakeLog } from './intake-log.ts'
import type { Lease } from './lease.ts'
import type { Listeners } from '../listeners.ts'
import type { JournalPolicy } from './policy.ts'
import type { Reader } from './reader.ts'
import type { Retention } from './retention.ts'

/**
 * One site's part of the journal: the durable list of its signups, and how far they are delivered. Each
 * user has its own interface. Disposing commits the waiting appends. It also closes the journal, unless
 * that has other sites: then the `OpenJournal` closes it.
 */
export interface Journal extends AsyncDisposable {
  readonly intake: IntakeLog
  readonly imports: ImportLog
  readonly delivery: DeliveryLog
  readonly erasure: Erasure
  readonly retention: Retention
  readonly reader: Reader
  readonly lease: Lease
  /**
   * The wall clock that processes on several machines share with the journal: `callLedger` has to count by
   * it, and old cells expire by it. Left out where all processes are on one machine.
   */
  readonly time?: Pick<Clock, 'now' | 'elapsed'>
  /** The calls that all sites make to a provider with this account. */
  callLedger(account: string, clock: Pick<Clock, 'now' | 'elapsed'>): CallLedger
}

/** A journal that can be compared with a spreadsheet. */
export interface ComparableJournal extends Journal {
  /** Begins to compare the signups with the rows of the present spreadsheet. */
  comparison(options: CompareOptions): Promise<Comparison>
}

/**
 * An open journal with any number of sites. They share its file or its connections, one order of positions,
 * the commits of appends, the used challenge tokens, the calls of each account, and the secret of the
 * hashes. Everything else is of one site: tabs, batches, markers, keys, facts and tombstones.
 *
 * Disposing commits the waiting appends of all sites and closes the journal.
 */
export interface OpenJournal extends AsyncDisposable {
  /** The sites that it was opened with, by name. */
  readonly sites: ReadonlyMap<string, ComparableJournal>
  /**
   * How many signups wait for delivery, of each site that the journal has ever had, by name: of those that
   * it was not opened with, too.
   */
  backlogs(): Promise<ReadonlyMap<string, number>>
  /** Told of each commit of appends that this process makes. */
  readonly committed: Pick<Listeners<Commit>, 'add'>
}

/** The settings of each site that a journal is opened with, by name. What is left out has its default. */
export type SitePolicies = ReadonlyMap<string, Partial<JournalPolicy>>

/** A journal that was opened for reading only. Disposing closes it. */
export interface OpenReader extends AsyncDisposable {
  /** Each site that the journal has ever had, and each that it was opened with, by name. */
  readonly sites: ReadonlyMap<string, Reader>
  /** As in `Journal`. */
  readonly time?: Journal['time']
}

/** A journal that can copy itself. */
export interface CopyableReader extends OpenReader {
  /**
   * Copies the journal of all sites into this empty file, and checks the copy. It is the journal of one
   * moment: it has every signup that was on disk before the call. Delays no writer, but keeps the
   * write-ahead log from shrinking meanwhile. Returns how many signups the copy has. `sites` must not be
   * used meanwhile.
   *
   * @throws Error when the copy cannot be written, or is not sound; the reason of `stop` when that aborts
   */
  copyTo(file: string, stop: AbortSignal): Promise<number>
}
