import type { Signup } from '../../signup/signup.ts'
import { fieldsText } from '../../signup/field.ts'
import { hourOf } from '../contracts/reader.ts'
import type { Value } from './connections.ts'

/**
 * Common table expressions that add the signups of the expression `placed`, and count them. To run behind
 * the lock of the head. `placed` has the columns of the table, but for `row_status`, and the hour.
 *
 * @param status the SQL of that column
 * @param isAccepted whether figures count a signup as accepted, in SQL
 */
export function addingPlaced(status: string, isAccepted = 'true'): string {
  return `added AS (
      INSERT INTO rollcall.signup
        (position, id, tab, received_at, email, source, name, tags, metadata, fields, row_status)
      SELECT position, id, tab, received_at, email, source, name, tags, metadata, fields, ${status}
      FROM placed RETURNING position, row_status
    ), counted AS (
      UPDATE rollcall.tab SET accepted = accepted + added.count
      FROM (SELECT tab, count(*) AS count FROM placed GROUP BY tab) AS added
      WHERE tab.id = added.tab
    ), hours AS (
      INSERT INTO rollcall.hour_accepted (site, hour, count)
      SELECT $1, hour, count(*) FROM placed WHERE ${isAccepted} GROUP BY hour
      ON CONFLICT (site, hour) DO UPDATE SET count = hour_accepted.count + excluded.count
    ), moved AS (
      UPDATE rollcall.head SET position = position + (SELECT count(*) FROM placed)
    )`
}

/** The names of the lists of `listsOf`. */
export const listNames = 'id, received_at, hour, email, source, name, tags, metadata, fields'

/** The types of the lists of `listsOf`, as parameters from this number on. */
export function listTypes(first: number): string {
  const types = ['uuid', 'bigint', 'integer', ...Array<string>(6).fill('text')]
  return types.map((type, index) => `$${first + index}::${type}[]`).join(', ')
}

/** The cells of signups, one list for each column. */
export function listsOf(signups: readonly Signup[]): readonly Value[] {
  return [
    signups.map(({ id }) => id),
    signups.map(({ receivedAt }) => receivedAt),
    signups.map(({ receivedAt }) => hourOf(receivedAt)),
    signups.map(({ email }) => email),
    signups.map(({ source }) => source),
    signups.map(({ name }) => name),
    signups.map(({ tags }) => (tags.length === 0 ? '' : JSON.stringify(tags))),
    signups.map(({ metadata }) => metadata),
    signups.map(({ fields }) => fieldsText(fields)),
  ]
}
