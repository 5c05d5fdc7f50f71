import type { Millis } from '../../signup/signup.ts'
import type { SignupRecord } from './reader.ts'

/**
 * The journal's interface to compare its signups with the rows of the present spreadsheet.
 */
export interface ComparedSignups {
  /**
   * A number that no settled batch of the site is above, and any later batch is. Ask for it before rows are
   * read: the rows of a later batch may be written meanwhile.
   */
  lastSettled(): Promise<number>

  /**
   * At most `max` signups after this position, in order, but for held ones. A few hundred take some milliseconds.
   *
   * @param lastSettled as that call told it when the comparison began
   */
  page(after: number, max: number, lastSettled: number): Promise<readonly ComparedSignup[]>

  /** The signups at these positions, in order. Leaves out positions without one. */
  at(positions: readonly number[]): Promise<readonly SignupRecord[]>

  /**
   * Puts signups back into the pending work, so that the writer delivers them to the present spreadsheet.
   * Leaves out those that were erased, that get no row or are held, that wait there already, and that a batch after
   * `lastSettled` has delivered once more. Returns how many it has put. One transaction: give it a few
   * hundred at most.
   */
  deliverAgain(positions: readonly number[], at: Millis, lastSettled: number): Promise<number>

  /**
   * Notes that signups that wait have a row already, so that they get no other one. One transaction: give it
   * a few hundred at most.
   */
  noteArrived(positions: readonly number[]): Promise<void>

  /** Notes how many rows of each tab are of signups that a restore has lost: they take seats, but in the overflow tab. */
  noteLost(rows: ReadonlyMap<string, number>): Promise<void>
}

/** A signup, without what its row is not found by. */
export interface ComparedSignup {
  readonly position: number
  readonly receivedAt: Millis
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
