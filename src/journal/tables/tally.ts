import { hour } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Count, Counted } from '../contracts/reader.ts'
import { givenRows, type Row, rowReader, statementsOf, type Step } from '../sql.ts'

/** All that is counted, as it happens: a figure costs the same with ten million signups. */

/** The slot of the sums of all time. No hour and no day begins then. */
export const allTime = -1

/** When the hour of this time begins. */
export function hourOf(at: Millis): Millis {
  return Math.floor(at / hour) * hour
}

/**
 * SQL that adds to the tally.
 *
 * @param rows site, what, slot, name and count of each: VALUES, or a query with WHERE or GROUP BY
 */
export function adding(rows: string): string {
  return `INSERT INTO tally AS known (site, what, slot, name, count) ${rows}
    ON CONFLICT (site, what, slot, name) DO UPDATE SET count = known.count + excluded.count`
}

const sql = statementsOf('tally', ({ given }) => ({
  count: adding(`VALUES ($1, $2, $3, '', $4), ($1, $2, ${allTime}, '', $4)`),
  read: `SELECT asked.what, slot / CAST($5 AS bigint) * CAST($5 AS bigint) AS at, name, sum(count) AS count
         FROM ${given('asked', '$2', { what: 'text' })} CROSS JOIN tally
         WHERE tally.site = $1 AND tally.what = asked.what AND slot BETWEEN $3 AND $4
         GROUP BY 1, 2, 3 ORDER BY 2, 3`,
}))

/** Counts what happened at this time, in its hour and in all. */
export function stepToCount(site: number, what: Counted, at: Millis, count = 1): Step {
  return [sql.count, site, what, hourOf(at), count]
}

/** Reads what was counted of these in the slots from one to another, in sums of as many milliseconds. */
export function stepToRead(
  site: number,
  what: readonly Counted[],
  [from, to]: readonly [from: Millis, to: Millis],
  each = hour,
): Step {
  return [sql.read, site, givenRows(what.map((it) => ({ what: it }))), from, to, each]
}

/** Reads what was counted of these in all. */
export function stepToReadAll(site: number, what: readonly Counted[]): Step {
  return stepToRead(site, what, [allTime, allTime])
}

/** A row of `stepToRead`. */
export const toCount: (row: Row) => Count = rowReader({
  what: (what) => what as Counted,
  ...{ at: Number, name: String, count: Number },
})
