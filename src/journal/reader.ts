import type { Millis, Signup } from '../signup/signup.ts'

/**
 * The journal's interface for reading: for the readiness answer and the command line. The comments here
 * are the contract; `test/journal/reader-contract.ts` tests every engine by it. No call delays an
 * append, and no cost grows with the number of signups.
 */
export interface Reader {
  /** Number of accepted signups that are not in the spreadsheet yet. */
  backlog(): Promise<number>

  /**
   * Since when nothing was written although signups wait, in other tabs than these: the later of when
   * the last batch was settled and when the first of the signups was received. Undefined when none
   * waits.
   *
   * @param asideTabs tabs that do not count, by `tabKey`
   */
  waitingSince(asideTabs: readonly string[]): Promise<Millis | undefined>

  /** At most `max` signups after this position, in order, written or not. */
  page(after: number, max: number): Promise<readonly SignupRecord[]>

  /** Writes to the journal and resolves when that worked. Costs one commit. */
  probe(): Promise<void>
}

export interface SignupRecord {
  readonly position: number
  /** With the tab's name as it was first used. */
  readonly signup: Signup
}
