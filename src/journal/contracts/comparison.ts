import type { Millis } from '../../signup/signup.ts'
import type { SignupRecord } from './reader.ts'

/**
 * The journal's interface to compare its signups with the rows of the present spreadsheet. The comments here
 * are the contract; `test/journal/comparison-contract.ts` tests every engine by it. Every call rejects with
 * `JournalUnavailable` when it could not be made.
 */
export interface ComparedSignups {
  /**
   * A number that no settled batch of the site is above, and any later batch is. Ask for it before rows are
   * read: the rows of a later batch may be written meanwhile.
   */
  lastSettled(): Promise<number>

  /**
   * At most `max` signups after this position, in order. A few hundred take some milliseconds.
   *
   * @param lastSettled as that call told it when the comparison began
   */
  page(after: number, max: number, lastSettled: number): Promise<readonly ComparedSignup[]>

  /** The signups at these positions, in order. Leaves out positions without one. */
  at(positions: readonly number[]): Promise<readonly SignupRecord[]>

  /**
   * Puts signups back into the pending work, so that the writer delivers them to the present spreadsheet.
   * Leaves out those that were erased, that get no row, that wait there already, and that a batch after
   * `lastSettled` has delivered once more. Returns how many it has put. One transaction: give it a few
   * hundred at most.
   */
  deliverAgain(positions: readonly number[], at: Millis, lastSettled: number): Promise<number>

  /**
   * Notes that signups that wait have a row already, so that they get no other one. One transaction: give it
   * a few hundred at most.
   */
  noteArrived(positions: readonly number[]): Promise<void>
}

/** A signup, without what its row is not found by. */
export interface ComparedSignup {
  readonly position: number
  readonly receivedAt: Millis
  /** Empty when it was erased. */
  readonly email: string
  /** The tab's name as it was first used. */
  readonly tab: string
  readonly row: KnownRow
}

/**
 * What the journal knows of a signup's row in the present spreadsheet:
 * - `written`: a batch has written it.
 * - `elsewhere`: batches have written it to another spreadsheet only.
 * - `waiting`: it waits, or a batch after `lastSettled` has written it, so it may be there or not.
 * - `unknown`: the signup was erased, so nobody can tell which row it is.
 * - `none`: the signup gets none.
 */
export type KnownRow = 'written' | 'elsewhere' | 'waiting' | 'unknown' | 'none'

/**
 * Compares the signups of the journal with the rows of the present spreadsheet, by timestamp and
 * address. It keeps a digest of each row in a temporary file that nobody else can open, so its memory
 * does not grow with the rows. Disposing of it deletes that file.
 */
export interface Comparison extends Disposable {
  /** Begins a reading of the spreadsheet, and forgets the rows of the reading before. */
  begin(): void

  /** Notes the next rows of a tab. Other work runs meanwhile. */
  note(part: RowsOfTab): Promise<void>

  /** Whether this reading gave the same rows as the one before, in the same order, and perhaps more below. */
  readonly isSteady: boolean

  /**
   * Compares every signup with the rows of the last reading. Other work runs between two pages.
   *
   * @param onPage is told how many signups were compared so far
   */
  compare(onPage: (signups: number) => void): Promise<Compared>

  /** At most `max` signups of this kind after this position, in order. Call it after `compare`. */
  found(kind: FoundKind, after: number, max: number): Promise<readonly SignupRecord[]>

  /** The first rows that are there too often, at most `max` of them. Call it after `compare`. */
  doubles(max: number): readonly DoubleRow[]

  /**
   * Puts signups that `found` gave back into the pending work, so that the writer delivers them to the
   * present spreadsheet. Leaves out those that somebody has put there since this comparison began.
   * Returns how many it has put. One transaction: give it a few hundred at most.
   */
  deliverAgain(positions: readonly number[], at: Millis): Promise<number>

  /**
   * Notes that signups that wait have a row already, so that they get no other one. One transaction:
   * give it a few hundred at most.
   */
  noteArrived(positions: readonly number[]): Promise<void>
}

/** Rows of one tab, as a spreadsheet's row reader gives them. */
export interface RowsOfTab {
  /** The same for one tab in every reading. */
  readonly place: string
  readonly tab: string
  readonly rows: readonly { readonly email: string; readonly at: Millis | undefined }[]
}

/**
 * - `missing`: it was settled in this spreadsheet, and no row agrees with it.
 * - `edited`: it was settled in this spreadsheet, and a row agrees in one of address and timestamp.
 * - `elsewhere`: it was settled in another spreadsheet only, and no row here agrees with it.
 * - `arrived`: it waits in the journal, and a row agrees with it, as after a backup was restored.
 */
export type FoundKind = 'missing' | 'edited' | 'elsewhere' | 'arrived'

export interface DoubleRow {
  readonly at: Millis
  readonly tab: string
  /** How many rows there are too many. */
  readonly extra: number
}

/** How many there are of each. */
export interface Compared {
  /** Signups whose row was found. */
  readonly present: number
  readonly missing: number
  readonly edited: number
  /** Signups that are not in this spreadsheet, and were settled in another one. */
  readonly elsewhere: number
  /** Signups that wait, or were written during the comparison. They may have a row or not. */
  readonly waiting: number
  /** Signups without an address in the journal, because they were erased. */
  readonly unknown: number
  /** Rows that are there more often, in one tab, than there are signups for them. */
  readonly double: number
  /** Rows that people copied to another tab. */
  readonly copies: number
  /** Rows that agree with no signup. An edited row is one of them. */
  readonly others: number
  /** All rows. */
  readonly rows: number
}

export interface CompareOptions {
  /** The text of a cell's address for comparison: spreadsheets may put an apostrophe in front. */
  readonly cellKey: (text: string) => string
}
