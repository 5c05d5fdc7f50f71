import type { Millis } from '../../signup/signup.ts'

/**
 * The journal's interface to keep the cells of signups for a time only. The comments here are the
 * contract; `test/journal/retention-contract.ts` tests every engine by it.
 *
 * An expired signup keeps its position, id, tab and time; all its cells become empty, and its row stays
 * as it is. While duplicates are ignored, a keyed hash of its address stays, so that the tab still knows
 * the person, until `forget`. What a tombstone covers does not expire: it is erased as `eraseNext` does
 * it, so its row is removed and no hash stays.
 */
export interface Retention {
  /**
   * Expires up to a hundred signups whose last batch was settled before this time. A signup that waits to
   * be delivered once more stays as it is. Returns whether there may be more. Rejects with
   * `JournalUnavailable` when the change could not be made.
   */
  expire(writtenBefore: Millis): Promise<boolean>
}

/** The name of a fact: when the last expired batch was settled. Undefined when none has expired. */
export const expiredFact = 'expired'
