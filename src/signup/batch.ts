import type { Signup } from './signup.ts'

/**
 * The signups of one tab in a batch, in journal order. Empty when all of them are duplicates that are
 * ignored: the tab gets no row then, and is not made, but the batch is sent like any other.
 */
export interface TabSignups {
  /** The tab's name as it was first used. */
  readonly tab: string
  readonly signups: readonly Signup[]
}

/**
 * The signups that go to the spreadsheet together, all or none. Once the journal has given a
 * batch its number its contents never change, through retries and restarts.
 */
export interface FrozenBatch {
  /** From 1, rising, never used twice. */
  readonly number: number
  /** Id of the marker that fences this batch: 1 to 2,147,483,647. */
  readonly marker: number
  /** Which journal froze which signups, in at most 41 characters: tells our marker from a foreign one. */
  readonly fingerprint: string
  readonly tabs: readonly TabSignups[]
}
