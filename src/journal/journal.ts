import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis, Receipt, Signup, SignupId } from '../signup/signup.ts'

/**
 * The durable list of signups, and how far they are delivered. The comments here are the contract;
 * `test/journal-contract.ts` holds every engine to it. Every promise resolves after the change is
 * on disk and rejects with `JournalUnavailable` when it could not be made (nothing was changed
 * then, and a later call may succeed).
 *
 * No cost here grows with the number of signups.
 */
export interface Journal extends AsyncDisposable {
  /** Adds signups in this order, all or none. */
  append(signups: readonly Signup[]): Promise<readonly Receipt[]>

  /** What became of a signup, or undefined when there is no such id. */
  find(id: SignupId): Promise<SignupStatus | undefined>

  /** Calls `listener` after each append. Returns the function that stops this. */
  onAppend(listener: () => void): () => void

  /** Number of accepted signups that are not in the spreadsheet yet. */
  backlog(): Promise<number>

  /** The batch that was frozen and not settled or released, with its contents as they were frozen. */
  frozenBatch(): Promise<FrozenBatch | undefined>

  /**
   * Freezes the oldest undelivered signups of the tabs that `wanted` accepts into the next batch.
   * Undefined when there are none. Throws when a batch is frozen already: one at a time.
   */
  freeze(limits: BatchLimits, wanted: (tab: string) => boolean): Promise<FrozenBatch | undefined>

  /** The frozen batch is in the spreadsheet: its signups are written. */
  settle(batch: number, at: Millis): Promise<void>

  /** The frozen batch was not applied and never will be: its signups wait to be frozen anew. */
  release(batch: number): Promise<void>

  /** The frozen batch's marker id belongs to somebody else: gives it, and all later ones, another. */
  remark(batch: number): Promise<FrozenBatch>

  /** Markers of settled and released batches that are not pruned yet, the oldest first. */
  endedMarkers(): Promise<readonly number[]>

  /** How many markers are not pruned yet. */
  markerCount(): Promise<number>

  /** These markers are gone from the spreadsheet. */
  forgetMarkers(markers: readonly number[]): Promise<void>

  /** A small fact that was noted, undefined when it was not. */
  fact(name: string): Promise<string | undefined>

  noteFact(name: string, value: string): Promise<void>

  /** Notes one call to the provider, before it is made. */
  recordCall(at: Millis): Promise<void>

  /** When the provider was called since then, in the order of the calls. Older notes may be gone. */
  callsSince(at: Millis): Promise<readonly Millis[]>
}

export interface BatchLimits {
  readonly rowsMax: number
  /** Estimated size of the request that carries the rows. A single larger row still goes alone. */
  readonly bytesMax: number
}

export interface SignupStatus {
  readonly id: SignupId
  readonly sheetTab: string
  readonly receivedAt: Millis
  /** When the spreadsheet confirmed the row; absent while it is on its way. */
  readonly writtenAt?: Millis
}

/** The journal cannot be read or written just now: disk full, database gone. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable'
}
