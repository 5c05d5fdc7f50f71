import type { OutboxFigures } from './outbox.ts'
import type { WebhookFigures } from './webhook-log.ts'
import type { Millis, Signup } from '../../signup/signup.ts'

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

  /** What was counted in all, and what waits. */
  figures(): Promise<Figures>

  /**
   * What was counted of these in the hours of these two times and those between, the earliest first: in sums
   * of an hour, or of as many hours as begin at a multiple of `each` since the epoch.
   */
  counted(
    what: readonly Counted[],
    from: Millis,
    to: Millis,
    each?: Millis,
  ): Promise<readonly Count[]>

  /** How many calls were made to a provider with this account after this time, at most a day ago. */
  callsSince(account: string, after: Millis): Promise<number>

  /** The fact that the delivery log noted under this name; undefined when there is none. */
  fact(name: string): Promise<string | undefined>

  /** How many seats are taken: by signups that count, outside of the overflow tab. */
  seatsTaken(): Promise<number>

  /** At most `max` signups after this position, in order, written or not, but for held ones. */
  page(after: number, max: number): Promise<readonly SignupRecord[]>

  /**
   * At most `max` signups in quarantine behind the one at this position, or from the first one (0) on:
   * neither released, nor erased. `suspect` has their signs. Those beside the list come behind the others, in
   * order, with their numbers as negative positions.
   */
  held(after: number, max: number): Promise<readonly SignupRecord[]>

  /**
   * What of that is erased until the end of next week, as it was held for 90 days: at least all that goes within
   * a week. It counts to a thousand.
   */
  heldEnding(now: Millis): Promise<HeldEnding>

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
   * Where the signups of this address are, letter case aside: the next hundred, where people are kept by their
   * hashes; elsewhere those in the next slice of positions. Call it again until there is no `next`.
   */
  positionsOf(address: string, after: number): Promise<AddressSlice>

  /** The same for the signups whose ids end so, slice by slice. @param idEnd as `isIdEnd` */
  positionsEnding(idEnd: string, after: number): Promise<AddressSlice>

  /** Those of these signups of the list that have their cells, in order. Give it `recentMax` positions at most. */
  at(positions: readonly number[]): Promise<readonly RecentSignup[]>

  /**
   * How many signups each tab and source got in the days, in UTC, from the one of `from` to that of `to`, or in
   * all, the largest first, as far as `OpenJournal.countNext` has counted them: at most 101 of each kind.
   */
  shares(from?: Millis, to?: Millis): Promise<readonly Share[]>

  /** Who waits for a decision of the operator, and who gets no mail. It counts to a limit. */
  beside(): Promise<BesideFigures>

  /** As `Outbox.figures` of all mails. */
  mails(): Promise<OutboxFigures>

  /** As `WebhookLog.figures`. */
  webhooks(endpoint: string): Promise<WebhookFigures | undefined>

  /** Makes one small commit, to check that the journal can be written. */
  probe(): Promise<void>
}

export interface HeldEnding {
  readonly waiting: number
  /** When the oldest one came. */
  readonly oldest: Millis | undefined
  /** When next week ends. */
  readonly until: Millis
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
  readonly state?: 'waiting' | 'written' | 'held' | 'pending' | undefined
  /** Of the address, letter case aside: only the latest 10,000 are looked at. */
  readonly beginning?: string | undefined
  /** Those that are beside the list, which are pending or held, by their numbers; otherwise those that are in it. */
  readonly isBeside?: boolean
}

/** Where a signup stands. A `duplicate` gets no row. */
export interface RecentSignup extends SignupRecord {
  readonly state: 'waiting' | 'written' | 'held' | 'pending' | 'duplicate'
  /** When its batch was settled. */
  readonly writtenAt: Millis | undefined
  /** When the cells of one that is beside the list are erased; undefined while its mail waits. */
  readonly until: Millis | undefined
}

export interface RecentPage {
  /** Their positions fall. */
  readonly signups: readonly RecentSignup[]
  /** The cursor of older ones; undefined when there are none. */
  readonly next: number | undefined
  /** The names of the site's tabs, in order. */
  readonly tabs: readonly string[]
}

export interface AddressSlice {
  /** In order. */
  readonly positions: readonly number[]
  /** Up to which position all were searched. */
  readonly upto: number
  /** Where the next slice begins; undefined when all are done. */
  readonly next: number | undefined
}

/**
 * What is counted, as it happens. Each only ever grows, but by a restore. `accepted` and `suspect` are counted
 * by the time of the signup, the others by that of what they count.
 *
 * - `accepted`: in the list; one that is held, when it is released.
 * - `seatless`: those of them that take no seat: ignored duplicates, and those in the overflow tab. `lost`: how many
 *   seats were taken by signups that a restore has lost; it may fall.
 * - `written`: in the spreadsheet. A duplicate that got no row counts together with its batch.
 * - `erased`: of the list, by somebody: not what was too old.
 * - `suspect`: named by its signs, with commas between them; `held`: those of them that were held.
 * - `pending`: ever so; `ended`: so no more; `asked`: by a mail that was sent; `confirmed`.
 * - `tab`, `source`: by day and name. With a `+`: all names together that are not counted by themselves.
 */
export type Counted = Total | 'ended' | Share['kind'] | `${Share['kind']}+`

/** What `Figures` have. */
export type Total =
  'accepted' | 'written' | 'erased' | 'suspect' | 'held' | 'pending' | 'asked' | 'confirmed'

export interface Count {
  readonly what: Counted
  /** When its time begins. */
  readonly at: Millis
  /** Empty: it is not counted by name. */
  readonly name: string
  readonly count: number
}

/** Figures for the operator, all of one moment. A held signup is not accepted until it is released. */
export interface Figures {
  /** Of all time, but for what is pending now. */
  readonly all: Readonly<Record<Total, number>>
  /** How many signups wait for their batch, held ones too. */
  readonly waiting: number
  /** When the oldest signup that waits came into the journal: for an imported one, not its own time. */
  readonly oldestWaiting: Millis | undefined
  /** When a batch was written last. */
  readonly lastWritten: Millis | undefined
}

export interface BesideFigures {
  /** How many pending signups are held. */
  readonly suspect: number
  /** How many of the list are. */
  readonly held: number
  /** How many addresses get no mail. */
  readonly blocked: number
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
