import type { Millis } from '../signup/signup.ts'

/**
 * The journal's interface for delivery to keep a provider's quota. It counts every call of one account,
 * by any process. The comments here are the contract; `test/journal/call-ledger-contract.ts` tests
 * every engine by it.
 */
export interface CallLedger {
  /**
   * Reserves one call, which must be made at once. Returns 0 when the call is noted on disk; otherwise
   * the milliseconds after which to ask again. No minute and no day, wherever it begins, has more calls
   * than the quota allows, including the calls of other and of earlier processes.
   *
   * Time goes on by the elapsed clock, so that a wall clock that jumps while the process runs changes
   * nothing. While it was down there is only the wall clock to tell how long that was:
   *
   * - for the minute it is not believed: the latest calls count as if the last had been made just now;
   * - for the day it is. Set back, it makes the wait longer, never shorter, and at most a day. Set ahead
   *   by some time between two starts, it makes calls look older by that time. (So it does for the
   *   minute when the process starts a second time in the minute after that.)
   *
   * A call of another process that runs at the same time is believed to have been made when it says,
   * as long as both measure by the wall clock as it is. After a jump of that, such a call counts as if
   * it had been made just now.
   *
   * Rejects with `JournalUnavailable` when it cannot be noted: then the call must not be made.
   */
  reserve(quota: Quota): Promise<Millis>
}

/** How many calls the provider may be sent, in any window of that length. At least 1 each. */
export interface Quota {
  readonly perMinute: number
  readonly perDay: number
}
