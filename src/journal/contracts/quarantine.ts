import type { Millis, SignupId } from '../../signup/signup.ts'
import type { ErasedSlice } from './erasure.ts'
import type { SignupRecord } from './reader.ts'

/**
 * The journal's interface to decide on suspect signups. They stand in the list under the quarantine tab, and
 * get a row there. `Reader.held` lists them. No figure counts them as accepted, and no duplicate is found by them, until they are
 * released.
 */
export interface Quarantine {
  /** Those of these signups that are in quarantine, as `Reader.held` has them. */
  find(ids: readonly SignupId[]): Promise<readonly SignupRecord[]>

  /**
   * Gives these signups new positions under the tabs that they asked for. Each keeps its id and its cells; its
   * old position loses them, and the removal of its row waits. Leaves out those that are not in quarantine
   * any more, and those of people who were forgotten. Duplicates are found now, and whoever is to be welcomed
   * is. One transaction: give it a hundred at most.
   */
  release(positions: readonly number[], now: Millis): Promise<Left>

  /** Erases these signups as `Erasure.eraseNext` does it. Leaves out those that are not in quarantine any more. */
  erase(positions: readonly number[]): Promise<Left>
}

/** The positions that signups in quarantine have left, by what becomes of the row there. */
export type Left = Pick<ErasedSlice, 'unwritten' | 'written' | 'frozen'>
