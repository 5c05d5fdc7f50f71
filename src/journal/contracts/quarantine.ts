import { day } from '../../platform/clock.ts'
import type { Millis, SignupId } from '../../signup/signup.ts'
import type { SignupRecord } from './reader.ts'

/** For how long a signup is held. */
export const heldMs = 90 * day

/**
 * The journal's interface to decide on suspect signups. They stand in the list like any other, but get no row,
 * count as nothing that was accepted, and no duplicate is found by them, until they are released. Those that are
 * to be confirmed stand beside the list. `Reader.held` lists both.
 */
export interface Quarantine {
  /** Those of these signups that are in quarantine, as `Reader.held` has them. */
  find(ids: readonly SignupId[]): Promise<readonly SignupRecord[]>

  /**
   * Lets these signups have their rows: each keeps its position, its id and its status. Leaves out those that
   * are not in quarantine any more, and those of people who were forgotten. Duplicates are found now, and
   * whoever is to be welcomed is. One transaction: give it a hundred at most.
   */
  release(positions: readonly number[], now: Millis): Promise<Released>

  /** Erases these signups. Leaves out those that are not in quarantine any more. Returns how many it has erased. */
  erase(positions: readonly number[]): Promise<number>
}

export interface Released {
  /** How many were released. */
  readonly signups: number
  /** The positions of those in the frozen batch: they can be released when that has ended. */
  readonly frozen: readonly number[]
}
