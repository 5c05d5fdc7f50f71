import type { Millis, Signup } from '../signup/signup.ts'

/**
 * What those need of the journal who look at it from outside: the service's own state, the command
 * line. The comments here are the contract; `test/journal/reader-contract.ts` holds every engine to it.
 * No call holds up an append, and no cost grows with the number of signups.
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

  /** Signups behind this position, in order, whatever has become of them. At most so many. */
  page(after: number, max: number): Promise<readonly SignupRecord[]>

  /** Resolves when the journal can be written just now, which it tries. Costs one commit. */
  probe(): Promise<void>
}

export interface SignupRecord {
  readonly position: number
  /** With the tab's name as it was first used. */
  readonly signup: Signup
}
