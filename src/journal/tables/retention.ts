import { expiredFact, type Retention } from '../contracts/erasure.ts'
import { ask, givenPositions, givenRows, type Operation, siteLock, statementsOf } from '../sql.ts'
import {
  erasedCells,
  eraseForgotten,
  forgottenAmong,
  type HashedSignup,
  hashedSignups,
  isAt,
} from './erase.ts'
import { setFact } from './facts.ts'
import type { Site } from './site.ts'

/** At most how many signups one call expires. */
const expiredAtOnce = 100

const sql = statementsOf('retention', ({ given, between, signupAt, ofEach }) => {
  // Whether no later batch than $1 has the signup, and no redelivery of it waits. With NOT EXISTS, a
  // planner may join these tables with all signups, before it looks at the batch.
  const isExpirable = `email <> ''
    AND (SELECT 1 FROM redelivery
         WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position) IS NULL
    AND (SELECT 1 FROM redelivered AS later
         WHERE later.position = signup.position AND later.batch > $1 LIMIT 1) IS NULL`
  const found = given('found', '$2', { position: 'number', hash: 'text' })
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
    // Another process may have put a signup back into the pending work since it was found.
    keepAddresses: `INSERT INTO kept_address (tab, hash)
                    SELECT signup.tab, found.hash FROM ${found} ${signupAt('found.position')}
                    WHERE ${isExpirable} ON CONFLICT DO NOTHING`,
    expire: `UPDATE signup SET ${erasedCells}
             FROM ${given('found', '$2', { position: 'number' })}
             WHERE ${isAt('found.position')} AND ${isExpirable}`,
    // Mails that have ended.
    expireEmails: `UPDATE message SET email = '' WHERE number IN (
                     SELECT number FROM message WHERE site = $1 AND ended_at < $2 AND email <> ''
                     ORDER BY ended_at LIMIT ${expiredAtOnce})`,
    endBatch: 'UPDATE batch SET is_expired = true WHERE number = $1',
  }
})

/** How signups of one site expire. */
export function retentionOf(site: Site): Retention {
  const { db, id, secret } = site
  return {
    expire: async (writtenBefore) => {
      const before = Math.min(writtenBefore, Number.MAX_SAFE_INTEGER)
      const [{ rows }] = await db.query([sql.unexpired, id, before])
      if (!rows[0]) {
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
        await db.transact([siteLock(id)], () => expiring(site, batch, signups))
      }
      return true
    },
  }
}

function* expiring(site: Site, batch: number, signups: readonly HashedSignup[]): Operation<void> {
  const forgotten = yield* forgottenAmong(site.id, signups)
  yield* eraseForgotten(site, forgotten)
  const expired = signups.filter(({ position }) => !forgotten.includes(position))
  const kept = site.policy.duplicates === 'ignore' ? expired : []
  yield* ask(
    [sql.keepAddresses, batch, givenRows(kept)],
    [sql.expire, batch, givenPositions(expired.map(({ position }) => position))],
    ...site.noteErased(),
  )
}
