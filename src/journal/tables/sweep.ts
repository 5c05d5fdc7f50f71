import { day } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { heldMs } from '../contracts/quarantine.ts'
import { ask, flagOf, type Operation, rowOf, siteLock, statementsOf } from '../sql.ts'
import { givenNumbers, stepsToEnd } from './pending/ending.ts'
import { eraseListed } from './erase.ts'
import { isPlaced } from './layout.ts'
import type { Site } from './site.ts'

/** At most how many of each kind one sweep ends. */
const sweptAtOnce = 50
/** For how long a mail is known whose link can do nothing any more. */
const mailKnownMs = 60 * day

const sql = statementsOf('sweep', ({ signupAt }) => {
  const expired = `SELECT number FROM pending
    WHERE site = $1 AND ${isPlaced} AND signals = '' AND expires_at <= $2
    ORDER BY expires_at LIMIT ${sweptAtOnce}`
  // They stand in the order of their requests.
  const heldLong = (since: string) => `SELECT number FROM (
      SELECT number, received_at FROM pending
      WHERE site = $1 AND signals <> '' ORDER BY number LIMIT ${sweptAtOnce}) AS oldest
    WHERE received_at <= ${since}`
  const listedLong = (since: string) => `SELECT signup.position FROM (
      SELECT position FROM held WHERE site = $1 ORDER BY position LIMIT ${sweptAtOnce}) AS oldest
    ${signupAt('oldest.position')} WHERE received_at <= ${since}`
  // A welcome stays, so that nobody is greeted twice.
  const oldMails = (since: string) => `SELECT number FROM message
    WHERE site = $1 AND ended_at < ${since} AND kind <> 'welcome'
    ORDER BY ended_at LIMIT ${sweptAtOnce}`
  return {
    isDue: `SELECT EXISTS (${expired}) OR EXISTS (${heldLong('$3')}) OR EXISTS (${listedLong('$3')})
                OR EXISTS (${oldMails('$4')}) AS "isDue"`,
    expired,
    heldLong: heldLong('$2'),
    listedLong: listedLong('$2'),
    oldMails: `DELETE FROM message WHERE number IN (${oldMails('$2')})`,
  }
})

/** As `Confirmation.sweep`. It looks before it takes a lock, as mostly nothing is due. */
export async function sweep(site: Site, now: Millis): Promise<boolean> {
  const { db, id } = site
  const [due] = await db.query([sql.isDue, id, now, now - heldMs, now - mailKnownMs])
  if (!flagOf(rowOf(due)['isDue'])) return false
  return db.transact([siteLock(id)], () => sweeping(site, now), { isSynced: false })
}

function* sweeping(site: Site, now: Millis): Operation<boolean> {
  const { id } = site
  const since = now - heldMs
  const [expired, heldLong, listedLong] = yield* ask(
    [sql.expired, id, now],
    [sql.heldLong, id, since],
    [sql.listedLong, id, since],
  )
  const rows = [...expired.rows, ...heldLong.rows]
  const listed = listedLong.rows.map(({ position }) => Number(position))
  yield* eraseListed(site, listed, { isCounted: false })
  const [mails] = yield* ask(
    [sql.oldMails, id, now - mailKnownMs],
    ...stepsToEnd(site, givenNumbers(rows), now),
  )
  return Math.max(rows.length, listed.length, mails.changes) >= sweptAtOnce
}
