import { expiredFact, type Retention } from '../contracts/erasure.ts'
import { personOf } from '../hashes.ts'
import {
  ask,
  flagOf,
  givenPositions,
  givenRows,
  type Operation,
  rowOf,
  siteLock,
  statementsOf,
} from '../sql.ts'
import {
  expiredCells,
  eraseListed,
  forgottenAmong,
  type HashedSignup,
  hashedSignups,
  isAt,
} from './erase.ts'
import { setFact } from './facts.ts'
import { rowStatus } from './layout.ts'
import type { Site } from './site.ts'

/** At most how many signups one call expires. */
const expiredAtOnce = 20

const sql = statementsOf('retention', ({ given, between, signupAt, ofEach, ofPerson }) => {
  // Whether no later batch than $1 has the signup, and no redelivery of it waits. With NOT EXISTS, a
  // planner may join these tables with all signups, before it looks at the batch.
  const isExpirable = `email <> '' AND row_status <> ${rowStatus.held}
    AND (SELECT 1 FROM redelivery
         WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position) IS NULL
    AND (SELECT 1 FROM redelivered AS later
         WHERE later.position = signup.position AND later.batch > $1 LIMIT 1) IS NULL`
  // Mails that have ended.
  const ended = `SELECT number FROM message WHERE site = $1 AND ended_at < $2 AND email <> ''
    ORDER BY ended_at LIMIT ${expiredAtOnce}`
  return {
    unexpired: `SELECT number, settled_at AS "settledAt" FROM batch
                WHERE site = $1 AND settled_at < $2 AND NOT is_expired
                ORDER BY settled_at, number LIMIT 1`,
    expirable: ofEach({
      each: '(SELECT * FROM batch_range WHERE batch = $1) AS part',
      columns: 'signup.position, email',
      from: `signup WHERE ${between('part.tab', 'part.after', 'part.upto')} AND ${isExpirable}`,
      order: 'signup.tab, signup.position',
      limit: expiredAtOnce,
    }),
    expirableAgain: `SELECT signup.position, email
                     FROM redelivered ${signupAt('redelivered.position')}
                     WHERE redelivered.batch = $1 AND ${isExpirable} LIMIT ${expiredAtOnce}`,
    // Another process may have put a signup back into the pending work since it was found. With $3, the first
    // of a person in its tab stays known.
    expire: `UPDATE signup SET ${expiredCells}, person = CASE WHEN $3 AND NOT EXISTS (
               SELECT 1 FROM signup AS first
               WHERE ${ofPerson({ signup: 'first', person: 'signup.person', tab: 'signup.tab', after: '0' })}
                 AND first.position < signup.position) THEN person END
             FROM ${given('found', '$2', { position: 'number' })}
             WHERE ${isAt('found.position')} AND ${isExpirable}`,
    // A welcome knows one signup of its person. Without the hashes of the others, their rows are lost.
    loseRows: `UPDATE message SET row_stays = true WHERE number IN (
                 SELECT welcome.number FROM ${given('lost', '$2', { position: 'number', person: 'text' })}
                 CROSS JOIN message AS welcome
                 WHERE welcome.site = $1 AND welcome.person = lost.person AND welcome.kind = 'welcome'
                   AND EXISTS (SELECT 1 FROM signup
                     WHERE signup.position = lost.position AND email <> '' AND row_status <> ${rowStatus.none}
                       AND (welcome.greets IS NULL OR signup.id <> welcome.greets)))`,
    hasEmails: `SELECT EXISTS (${ended}) AS "isDue"`,
    expireEmails: `UPDATE message SET email = '' WHERE number IN (${ended})`,
    endBatch: 'UPDATE batch SET is_expired = true WHERE number = $1',
  }
})

/** How signups of one site expire. */
export function retentionOf(site: Site): Retention {
  const { db, id, secret } = site
  return {
    expire: async (writtenBefore) => {
      const before = Math.min(writtenBefore, Number.MAX_SAFE_INTEGER)
      const [{ rows }, emails] = await db.query(
        [sql.unexpired, id, before],
        [sql.hasEmails, id, before],
      )
      if (!rows[0]) {
        if (!flagOf(rowOf(emails)['isDue'])) return false
        const [{ changes }] = await db.change([siteLock(id)], [sql.expireEmails, id, before])
        return changes > 0
      }
      const batch = Number(rows[0]['number'])
      const [first, again] = await db.query([sql.expirable, batch], [sql.expirableAgain, batch])
      const found = [...first.rows, ...again.rows].slice(0, expiredAtOnce)
      if (found.length === 0) {
        const note = setFact(id, expiredFact, String(rows[0]['settledAt']))
        await db.change([siteLock(id)], [sql.endBatch, batch], note)
      } else {
        const signups = hashedSignups(secret, found)
        const expire = () => expiring(site, batch, signups)
        await db.transact([siteLock(id)], expire, { isSynced: false })
      }
      return true
    },
  }
}

function* expiring(site: Site, batch: number, signups: readonly HashedSignup[]): Operation<void> {
  const forgotten = yield* forgottenAmong(site.id, signups)
  yield* eraseListed(site, forgotten)
  const expired = signups.filter(({ position }) => !forgotten.includes(position))
  const positions = givenPositions(expired.map(({ position }) => position))
  const keepsPeople = site.policy.duplicates === 'ignore'
  const lost = expired.map(({ position, hash }) => ({ position, person: personOf(hash) }))
  yield* ask(
    [sql.loseRows, site.id, givenRows(keepsPeople ? [] : lost)],
    [sql.expire, batch, positions, keepsPeople],
    ...site.noteErased(),
  )
}
