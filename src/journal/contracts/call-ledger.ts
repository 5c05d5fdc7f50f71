import type { Millis } from '../../signup/signup.ts'

/**
 * The journal's interface for delivery to keep a provider's quota. It counts every call of one account,
 * by any process.
 */
export interface CallLedger {
  /**
   * Reserves one call, which must be made at once. Returns 0 when the call is noted on disk; otherwise
   * the milliseconds after which to ask again. No minute and no day, wherever it begins, has more calls
   * than the quota allows, including the calls of other and of earlier processes.
   *
   * The ledger measures time by the elapsed clock, so a wall clock that jumps while the process runs
   * changes nothing. Only the wall clock tells for how long the process was down:
   *
   * - The minute does not rely on it: after a start, the latest calls count as if the last one had been
   *   made just now.
   * - The day relies on it. A clock that was set back makes the wait longer, but at most a day. A clock
   *   that was set ahead between two starts makes calls look older by as much, for the day; and for the
   *   minute, too, if the process starts once more within the minute after that. Each time it was set
   *   ahead, such a window may have as many calls again as the quota allows, and no more.
   *
   * A call of another process that runs at the same time counts from the time that this process noted,
   * as long as the clocks of both agree with the wall clock. After a jump of the wall clock, such a call
   * counts as if it had been made just now.
   *
   * Rejects with `JournalUnavailable` when the journal cannot note the call. Then it must not be made.
   */
  reserve(quota: Quota, use?: CallUse): Promise<Millis>
}

/**
 * What a call is for; rows when nothing is said. Removals have half of a minute's calls at most, and a tenth of
 * a day's, or all when `forget` has asked for one that waits. Rows leave a tenth of both while a removal waits.
 */
export type CallUse = 'rows' | 'removal'

/** How many calls the provider accepts, in any minute and in any day. At least 1 each. */
export interface Quota {
  readonly perMinute: number
  readonly perDay: number
}
