import type { Millis } from '../../../signup/signup.ts'
import type { LinkState } from '../../contracts/confirmation.ts'
import {
  type Answer,
  ask,
  flagOf,
  type Operation,
  rowReader,
  statementsOf,
  type Step,
  textOf,
} from '../../sql.ts'
import { givenNumbers, stepsToEnd } from './ending.ts'
import { besideState, messageStage } from '../layout.ts'
import type { Site } from '../site.ts'

/** Who a link of a mail belongs to, and what both decisions against mails do. */

/** At most how many other signups of a person are looked at. Hardly more than `pendingMax` are ever pending. */
export const othersMax = 100

const sql = statementsOf('links', ({ ofPerson }) => ({
  message: `SELECT kind, person, recipient, email, language, pending,
              (greets IS NOT NULL OR row_stays) AS "hasRow"
            FROM message
            WHERE id = $2 AND site = $1 AND kind IN ('confirm', 'welcome') AND person <> ''`,
  // The address of the newest signup of the person in each tab: empty when it has expired, null when there is none.
  listed: `SELECT (SELECT email FROM signup
             WHERE ${ofPerson({ signup: 'signup', person: '$2', tab: 'tab.id', after: '0' })}
               AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position)
             ORDER BY signup.person DESC, signup.tab DESC, signup.position DESC LIMIT 1) AS email
           FROM tab WHERE site = $1`,
  pending: `SELECT number FROM pending
            WHERE site = $1 AND person = $2 AND state = ${besideState.pending}
            ORDER BY number LIMIT ${othersMax}`,
  // Who has left stays so, unless they decline what is asked for later.
  block: `INSERT INTO block (site, person, why, at, until) VALUES ($1, $2, $3, $4, $5)
          ON CONFLICT (site, person) DO UPDATE
          SET why = excluded.why, at = excluded.at, until = excluded.until
          WHERE block.until IS NOT NULL OR excluded.why = 'declined'`,
  dropWelcomes: `UPDATE message SET stage = ${messageStage.dropped}, email = '', ended_at = $3
                 WHERE site = $1 AND person = $2 AND stage < ${messageStage.sent} AND kind = 'welcome'`,
}))

/** A message with a link, and its person. */
const toLinked = rowReader({
  kind: (kind) => kind as LinkState['kind'],
  ...{ person: String, recipient: String, email: String, language: String, pending: Number },
  /** Of a welcome whose person has left: whether a row stays. */
  hasRow: flagOf,
})
export type Linked = ReturnType<typeof toLinked>

export function* linkedBy(site: number, message: string): Operation<Linked | undefined> {
  const [{ rows }] = yield* ask([sql.message, site, message])
  return rows.map(toLinked)[0]
}

/** Finds rows for `addressesIn`. */
export function stepToFindListed(site: number, person: string): Step {
  return [sql.listed, site, person]
}

/** The addresses of a person's signups in the list. One that has expired has an empty one. */
export function addressesIn({ rows }: Answer): readonly string[] {
  return rows.flatMap(({ email }) => textOf(email) ?? [])
}

/** Ends all that is pending of a person. Their mails wait like others, and are dropped when their turn comes. */
export function* endingAll(
  site: Site,
  person: string,
  now: Millis,
  areDeclined = false,
): Operation<void> {
  const [{ rows }] = yield* ask([sql.pending, site.id, person])
  yield stepsToEnd(site, givenNumbers(rows), now, areDeclined)
}

/** Lets no mail of this kind go to a person, or to a mailbox, any more. */
export function stepToBlock(
  site: number,
  person: string,
  why: 'declined' | 'left',
  now: Millis,
  until: Millis | null,
): Step {
  return [sql.block, site, person, why, now, until]
}

export function stepToDropWelcomes(site: number, person: string, now: Millis): Step {
  return [sql.dropWelcomes, site, person, now]
}
