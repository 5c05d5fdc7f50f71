import type { Signup } from './signup.ts'

/**
 * The signups of one tab in a batch, in journal order. The list is empty when all of them are ignored
 * duplicates: the tab then gets no row and is not made, but the batch is sent as usual.
 */
export interface TabSignups {
  /** The tab's name as it was first used. */
  readonly tab: string
  readonly signups: readonly Signup[]
}

/**
 * The signups that go to the spreadsheet together, all or none. Once the journal has given the batch
 * a number, its contents never change, not even through retries and restarts.
 */
export interface FrozenBatch {
  /** Counts up from 1 and is never reused. */
  readonly number: number
  /** Id of the marker that fences this batch: 1 to 2,147,483,647. */
  readonly marker: number
  /** Identifies the journal and the signups, so that a foreign marker is recognised. At most 41 characters. */
  readonly fingerprint: string
  readonly tabs: readonly TabSignups[]
}

/** A marker, and the batch that it is of. */
export type Marked = Pick<FrozenBatch, 'marker' | 'fingerprint'>
