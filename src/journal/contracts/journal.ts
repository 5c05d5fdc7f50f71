import type { Clock } from '../../platform/clock.ts'
import type { Closing } from '../../signup/closing.ts'
import type { Millis } from '../../signup/signup.ts'
import type { AdminLog } from '../tables/admin-log.ts'
import type { CallLedger } from './call-ledger.ts'
import type { Confirmation } from './confirmation.ts'
import type { ComparedSignups } from './comparison.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { Erasure, Retention } from './erasure.ts'
import type { ImportLog } from './import-log.ts'
import type { IntakeLog } from './intake-log.ts'
import type { Lease } from './lease.ts'
import type { Outbox } from './outbox.ts'
import type { Quarantine } from './quarantine.ts'
import type { Reader } from './reader.ts'
import type { WebhookLog } from './webhook-log.ts'

/**
 * One site's part of the journal: the durable list of its signups, and how far they are delivered. Each
 * user has its own interface. Disposing commits the waiting appends. It also closes the journal, unless
 * that has other sites: then the `OpenJournal` closes it.
 *
 * The comments of these interfaces are the contract, by which the tests in `test/journal/contracts/` test
 * every engine. Any number of processes may have one journal open, and each sees what the others have
 * committed. Every promise resolves after the change is on disk, but for sweeps. It rejects with `JournalUnavailable` when
 * the change could not be made: then nothing was changed, and a later call may succeed.
 */
export interface Journal extends AsyncDisposable {
  readonly intake: IntakeLog
  readonly imports: ImportLog
  readonly delivery: DeliveryLog
  readonly erasure: Erasure
  readonly retention: Retention
  readonly quarantine: Quarantine
  readonly confirmation: Confirmation
  readonly outbox: Outbox
  readonly webhooks: WebhookLog
  readonly compared: ComparedSignups
  readonly reader: Reader
  readonly lease: Lease
  /**
   * The wall clock that processes on several machines share with the journal: `callLedger` has to count by
   * it, and old cells expire by it. Left out where all processes are on one machine.
   */
  readonly time?: Pick<Clock, 'now' | 'elapsed'>
  /** The calls that all sites make to a provider with this account. */
  callLedger(account: string, clock: Pick<Clock, 'now' | 'elapsed'>): CallLedger
  /**
   * A key for this use at this site: 32 bytes that all instances share, made of the journal's secret. It
   * changes only when that secret is lost.
   */
  keyFor(use: string): Uint8Array<ArrayBuffer>
  /** The key of the links in mails of this site: 32 bytes, which are in the backups of the journal. */
  readonly linkKey: Uint8Array<ArrayBuffer>
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
  readonly sites: ReadonlyMap<string, Journal>
  /**
   * How many signups wait for delivery, of each site that the journal has ever had, by name: of those that
   * it was not opened with, too.
   */
  backlogs(): Promise<ReadonlyMap<string, number>>
  readonly admin: AdminLog
  /**
   * Counts the next signups, of all sites, for `Reader.shares`, each once, whoever calls it. Those in
   * quarantine are not counted until they are released. Returns whether there may be more.
   */
  countNext(): Promise<boolean>
  /** Tells `listener` of each commit of appends that this process makes. Returns what removes the listener. */
  onCommit(listener: (commit: Commit) => void): () => void
}

/** A commit that put signups on disk. */
export interface Commit {
  /** At least 1. */
  readonly signups: number
  /** From its begin until it was on disk. */
  readonly ms: Millis
}

/** The operator's settings for a site's signups. They are fixed when the journal is opened. */
export interface JournalPolicy {
  /** How many new tabs signups may make in all. */
  readonly newTabsMax: number
  /** How many new tabs one client (`AppendTerms.client`) may make in an hour. */
  readonly newTabsPerHourMax: number
  /** Tabs that the settings name. They do not count as new tabs. */
  readonly namedTabs: readonly string[]
  /**
   * With `ignore`, the second signup of an address in a tab (letter case aside) gets no row. The journal
   * keeps it like any other signup, and marks it as written together with its batch.
   */
  readonly duplicates: 'append' | 'ignore'
  /** The tab of signups that name none. */
  readonly defaultTab: string
  /** When and behind how many signups it closes, and to where those beyond go. */
  readonly closing?: Closing | undefined
  /** Whether suspect signups are held. Otherwise they are like any other. */
  readonly holdsSuspects?: boolean | undefined
  /**
   * How signups are confirmed: for how long one waits for that, from the time when its mail was sent. When it
   * is left out, none is asked for; what is pending can still be confirmed.
   */
  readonly confirmation?: { readonly waitMs: Millis } | undefined
  /**
   * The texts that people agree to, in all languages. What else a request calls its `consent` is kept in its
   * metadata as `consent (sent)`.
   */
  readonly wordings?: readonly string[] | undefined
  /** Whether somebody looks for people in the admin page. */
  readonly hasAdminPage?: boolean | undefined
  /** Whether the first signup of an address that counts is greeted by a mail. */
  readonly welcomes?: boolean | undefined
  /** The present spreadsheet: its id, or `workbook`. The journal notes it with each settled batch. */
  readonly spreadsheet: string
}

export const defaultPolicy: JournalPolicy = {
  newTabsMax: Infinity,
  newTabsPerHourMax: Infinity,
  namedTabs: [],
  duplicates: 'append',
  defaultTab: 'Sheet1',
  spreadsheet: 'workbook',
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

/** What was restored. */
export interface Restored {
  readonly signups: number
  /** Signups that the writer compares with the spreadsheet before it writes them. */
  readonly waiting: number
  /** Signups of people who were forgotten after the backup. */
  readonly forgotten: number
  /** Whether no journal before could be read, so that nothing is known of the time since the backup. */
  readonly isBlind: boolean
  /** Whether calls since the backup are unknown, so that their quota counts as used up. */
  readonly isQuotaUnknown: boolean
}

export interface RestoreResult extends Restored {
  /** The restored journal. */
  readonly journal: string
  /** The journal that was there before; undefined when there was none. */
  readonly aside: string | undefined
}
