import type { Signup } from '../../signup/signup.ts'
import { fieldsText } from '../../signup/field.ts'
import { hour } from '../../platform/clock.ts'
import { personLength } from '../hashes.ts'
import { rowStatus } from '../tables/layout.ts'
import { adding, allTime } from '../tables/tally.ts'
import type { Value } from './connections.ts'

/**
 * Common table expressions that add the signups of the expression `placed`, and count them. To run behind
 * the lock of the head. `placed` has the columns of the table, but for `row_status`, and the hash of the
 * address instead of the person.
 *
 * @param status the SQL of that column
 * @param isSeatless whether one of `added` takes no seat, in SQL; left out where each takes one
 */
export function addingPlaced(status: string, isSeatless = ''): string {
  const seatless = isSeatless && `, ('seatless', CASE WHEN ${isSeatless} THEN ${allTime} END)`
  return `added AS (
      INSERT INTO rollcall.signup
        (position, id, tab, received_at, email, source, name, tags, metadata, fields, person, row_status)
      SELECT position, id, tab, received_at, email, source, name, tags, metadata, fields,
        ${placedPerson}, ${status}
      FROM placed RETURNING position, tab, received_at, row_status
    ), counted AS (
      UPDATE rollcall.tab SET accepted = accepted + added.count
      FROM (SELECT tab, count(*) AS count FROM added GROUP BY tab) AS added
      WHERE tab.id = added.tab
    ), tallied AS (
      ${adding(`SELECT $1, what, slot, '', count(*) FROM added CROSS JOIN LATERAL (
                  VALUES ('accepted', received_at / ${hour} * ${hour}), ('accepted', ${allTime})${seatless}
                ) AS slots (what, slot)
                WHERE row_status <> ${rowStatus.held} AND slot IS NOT NULL GROUP BY what, slot`)}
    ), moved AS (
      UPDATE rollcall.head SET position = position + (SELECT count(*) FROM added)
    )`
}

/** As `personOf`, of a signup of the expression `placed`. */
const placedPerson = `left(placed.hash, ${personLength})`

/** The names of the lists of `listsOf`. */
export const listNames = 'id, received_at, email, source, name, tags, metadata, fields, hash'

/** The types of the lists of `listsOf`, as parameters from this number on. */
export function listTypes(first: number): string {
  const types = ['uuid', 'bigint', ...Array<string>(7).fill('text')]
  return types.map((type, index) => `$${first + index}::${type}[]`).join(', ')
}

/** The cells of signups, each with its `Site.hashOf`, one list for each column. */
export function listsOf(
  signups: readonly (Signup & { readonly hash: string | null })[],
): readonly Value[] {
  return [
    signups.map(({ id }) => id),
    signups.map(({ receivedAt }) => receivedAt),
    signups.map(({ email }) => email),
    signups.map(({ source }) => source),
    signups.map(({ name }) => name),
    signups.map(({ tags }) => (tags.length === 0 ? '' : JSON.stringify(tags))),
    signups.map(({ metadata }) => metadata),
    signups.map(({ fields }) => fieldsText(fields)),
    signups.map(({ hash }) => hash),
  ]
}
