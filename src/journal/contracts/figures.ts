import type { Millis } from '../../signup/signup.ts'

const hourMs = 60 * 60 * 1000

/** How many signups came and how many were written. */
export interface Counts {
  readonly accepted: number
  /** A duplicate that got no row counts as written together with its batch. */
  readonly written: number
}

/** The counts of an hour: accepted by the time of the signup, written by the time of the delivery. */
export interface HourCounts extends Counts {
  /** When the hour begins. */
  readonly from: Millis
}

/** Figures for the operator, all of one moment. */
export interface Figures {
  /** Of all time. */
  readonly all: Counts
  /** The hours in which something was accepted or written, the earliest first. */
  readonly hours: readonly HourCounts[]
  /** When the oldest signup that waits came into the journal: for an imported one, not its own time. */
  readonly oldestWaiting: Millis | undefined
  /** When a batch was written last. */
  readonly lastWritten: Millis | undefined
}

/** The number of the hour that holds this time, since the Unix epoch. */
export function hourOf(at: Millis): number {
  return Math.floor(at / hourMs)
}

/** When the hour of this number begins. */
export function beginOf(hour: number): Millis {
  return hour * hourMs
}
