import { fieldsOf } from '../../signup/fields-text.ts'
import type { Signup, SignupId } from '../../signup/signup.ts'
import type { WaitingSignup } from '../contracts/delivery-log.ts'
import type { Row } from './statement.ts'

/** What `toSignup` reads. */
export const signupColumns = `signup.position, signup.id, signup.received_at AS "receivedAt",
  signup.email, signup.source, signup.name, signup.tags, signup.metadata,
  signup.fields`

/** What `toWaiting` reads. */
export const waitingColumns = `${signupColumns}, signup.is_ignored AS "isIgnored",
  octet_length(signup.email) + octet_length(signup.source) + octet_length(signup.name)
  + octet_length(signup.tags) + octet_length(signup.metadata)
  + octet_length(signup.fields) AS "textBytes"`

/**
 * The condition for signups of a tab behind a position, to be ordered by `signup.tab, signup.position`.
 * Only the index of tabs has both columns, and a comparison of both begins at the position. With
 * `tab = … AND position > …`, the planner may read by position, past the signups of all other tabs.
 */
export function isBehind(tab: string, position: string): string {
  return `(signup.tab, signup.position) > (${tab}, ${position}) AND signup.tab <= ${tab}`
}

/** The condition for signups of a tab between two positions, the last one included. As `isBehind`. */
export function isBetween(tab: string, after: string, upto: string): string {
  return `(signup.tab, signup.position) > (${tab}, ${after})
          AND (signup.tab, signup.position) <= (${tab}, ${upto})`
}

/** Joins the signup at a position, in SQL. A usual join may begin with all signups instead. */
export function joinSignupAt(position: string): string {
  return `CROSS JOIN LATERAL (
            SELECT * FROM rollcall.signup WHERE signup.position = ${position} LIMIT 1
          ) AS signup`
}

export function toSignup(row: Row, sheetTab: string): Signup {
  const tags = String(row['tags'])
  return {
    id: String(row['id']) as SignupId,
    receivedAt: Number(row['receivedAt']),
    email: String(row['email']),
    sheetTab,
    source: String(row['source']),
    name: String(row['name']),
    tags: tags === '' ? [] : (JSON.parse(tags) as string[]),
    metadata: String(row['metadata']),
    fields: fieldsOf(String(row['fields'])),
  }
}

export function toWaiting(row: Row, sheetTab: string): WaitingSignup {
  return {
    position: Number(row['position']),
    textBytes: Number(row['textBytes']),
    isIgnored: row['isIgnored'] !== 0,
    signup: toSignup(row, sheetTab),
  }
}
