import type { ConfirmationFigures } from './confirmation.ts'
import type { OutboxFigures } from './outbox.ts'
import type { WebhookFigures } from './webhook-log.ts'
import type { Millis, Signup } from '../../signup/signup.ts'
import type { Signal } from '../../signup/suspicion.ts'

export const hourMs = 60 * 60 * 1000

/**
 * The journal's interface for reading: for the readiness answer and the command line. No call delays an
 * append, and no cost grows with the number of signups.
 */
export interface Reader {
  /** Number of accepted signups that are not in the spreadsheet yet. */
  backlog(): Promise<number>

  /**
   * Since when signups wait and no batch was settled: the time when the oldest waiting signup came into the
   * journal or that of the last settled batch, whichever is later. Undefined when no signup waits.
   *
   * @param asideTabs keys (`tabKey`) of tabs whose signups do not count
   */
  waitingSince(asideTabs: readonly string[]): Promise<Millis | undefined>

  /** What was accepted and written, with the counts of the hours that hold these two times and those between. */
  figures(from: Millis, to: Millis): Promise<Figures>

  /** The hours of `figures`, each with the sums of `each` hours that begin at a multiple of it since the epoch. */
  hours(from: Millis, to: Millis, each: number): Promise<readonly HourCounts[]>

  /** How many calls were made to a provider with this account after this time, at most a day ago. */
  callsSince(account: string, after: Millis): Promise<number>

  /** The fact that the delivery log noted under this name; undefined when there is none. */
  fact(name: string): Promise<string | undefined>

  /** At most `max` signups after this position, in order, written or not. */
  page(after: number, max: number): Promise<readonly SignupRecord[]>

  /**
   * At most `max` signups in quarantine after this position, in order: neither released, nor erased, nor
   * expired. Their `sheetTab` is the tab that they asked for, and `suspect` their signs.
   */
  held(after: number, max: number): Promise<readonly SignupRecord[]>

  /**
   * At most `max` signups that wait for their confirmation, after this number, in order: suspect ones, too.
   * The `position` of each is its number, which no signup of the list has.
   */
  pending(after: number, max: number): Promise<readonly SignupRecord[]>

  /**
   * The newest signups of this choice below the cursor `before`, the newest first, but for erased ones. What it
   * reads is bounded, whatever it skips: a page may have fewer than `recentMax` signups, or none, and there may
   * be older ones all the same.
   *
   * @param before `next` of the page before; left out for the first page
   */
  recent(choice: RecentChoice, before?: number): Promise<RecentPage>

  /**
   * The signups of this address, letter case aside, in the next slice of positions: a few milliseconds. Call it
   * again until there is no `next`.
   */
  ofAddress(address: string, after: number): Promise<AddressSlice>

  /**
   * How many signups each tab and source got in the days, in UTC, from the one of `from` to that of `to`, the
   * largest first, as far as `OpenJournal.countNext` has counted them: at most 101 of each kind.
   */
  shares(from: Millis, to: Millis): Promise<readonly Share[]>

  /** What is beside the list. */
  beside(): Promise<ConfirmationFigures>

  /** As `Outbox.figures` of all mails. */
  mails(): Promise<OutboxFigures>

  /** As `WebhookLog.figures`. */
  webhooks(endpoint: string): Promise<WebhookFigures | undefined>

  /** Makes one small commit, to check that the journal can be written. */
  probe(): Promise<void>
}

export interface SignupRecord {
  readonly position: number
  /** Its `sheetTab` is the tab's name as it was first used. */
  readonly signup: Signup
}

/** At most how many signups `Reader.recent` tells at once. */
export const recentMax = 50

export interface RecentChoice {
  /** A name, in any letter case. */
  readonly tab?: string | undefined
  /** Left out: all that are in the list. Those in quarantine and those that are pending have no other state. */
  readonly state?: 'waiting' | 'written' | 'quarantine' | 'pending' | undefined
}

/** Where a signup stands. A `duplicate` gets no row. */
export interface RecentSignup extends SignupRecord {
  readonly state: NonNullable<RecentChoice['state']> | 'duplicate'
  /** When its batch was settled. */
  readonly writtenAt: Millis | undefined
  /** When the cells of one that is beside the list are erased; undefined while its mail waits. */
  readonly until: Millis | undefined
}

export interface RecentPage {
  /** Their positions fall. Those beside the list have positions above all others, as `held` has them. */
  readonly signups: readonly RecentSignup[]
  /** The cursor of older ones; undefined when there are none. */
  readonly next: number | undefined
  /** The names of the site's tabs, but for the quarantine tab, in order. */
  readonly tabs: readonly string[]
}

export interface AddressSlice {
  readonly signups: readonly RecentSignup[]
  /** Up to which position all were searched. */
  readonly upto: number
  /** Where the next slice begins; undefined when all are done. */
  readonly next: number | undefined
}

/** How many signups came and how many were written. */
export interface Counts {
  readonly accepted: number
  /** A duplicate that got no row counts as written together with its batch. */
  readonly written: number
}

/**
 * The counts of an hour: accepted, asked and suspect by the time of the signup, all others by that of what
 * they count.
 */
export interface HourCounts extends Counts {
  /** When the hour begins. */
  readonly from: Millis
  /** How many were asked for that wait for a confirmation, and how many were confirmed. */
  readonly asked: number
  readonly confirmed: number
  /** Held or not. */
  readonly suspect: number
  /** Signups of the list that somebody had erased: not those that were too old, nor those beside the list. */
  readonly erased: number
}

/** How many suspect signups came in an hour with these signs. */
export interface SuspectCount {
  /** When the hour begins. */
  readonly from: Millis
  readonly signals: readonly Signal[]
  readonly count: number
}

/** Figures for the operator, all of one moment. A signup in quarantine is not accepted until it is released. */
export interface Figures {
  /** Of all time. */
  readonly all: Counts
  /** How many signups wait for a row, those in quarantine too. */
  readonly waiting: number
  /** How many were suspect, held or not. */
  readonly allSuspects: number
  /** Those of these hours, the earliest first. */
  readonly suspects: readonly SuspectCount[]
  /** The hours in which something happened, the earliest first. */
  readonly hours: readonly HourCounts[]
  /** When the oldest signup that waits came into the journal: for an imported one, not its own time. */
  readonly oldestWaiting: Millis | undefined
  /** When a batch was written last. */
  readonly lastWritten: Millis | undefined
}

export interface Share {
  readonly kind: 'tab' | 'source'
  /**
   * Empty: no source, or an erased one. Undefined: all that are not among the first hundred of the site, and
   * sources that are long or may be an address.
   */
  readonly name: string | undefined
  readonly count: number
}

/** The number of the hour that holds this time, since the Unix epoch. */
export function hourOf(at: Millis): number {
  return Math.floor(at / hourMs)
}
