import type { Millis } from '../../../signup/signup.ts'
import type { AddressSlice } from '../../contracts/reader.ts'
import { addressHash } from '../../hashes.ts'
import { ask, headLock, type Operation, reading, siteLock, statementsOf } from '../../sql.ts'
import { eraseListed } from '../erase.ts'
import { stepsToBury, stepToDropKept } from '../erasure.ts'
import { rowStatus } from '../layout.ts'
import {
  addressesIn,
  endingAll,
  linkedBy,
  stepToBlock,
  stepToDropWelcomes,
  stepToFindListed,
} from './links.ts'
import { findByHash } from '../people.ts'
import type { Site } from '../site.ts'

const sql = statementsOf('leaving', {
  // The signup of the welcome, when its cells have expired. It may still have its row.
  greeted: `SELECT position FROM signup
            WHERE id = (SELECT greets FROM message WHERE message.id = $1)
              AND email = '' AND row_status <> ${rowStatus.none}
              AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position)`,
  // With $3 its row stays, as nobody knows its address.
  forgetWelcome: `UPDATE message SET email = '', greets = CASE WHEN $3 THEN greets END
                  WHERE site = $1 AND person = $2 AND kind = 'welcome'`,
})

/** How far somebody's signups were erased, and by which address: it is empty when none of them has it any more. */
interface Reached {
  readonly after: number
  readonly address: string
}

/** As `Confirmation.leave`. */
export async function leave(site: Site, message: string, now: Millis): Promise<void> {
  let reached: Reached | undefined = { after: 0, address: '' }
  while (reached) {
    reached = await leaveNext(site, message, now, reached)
    // An engine may answer without a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Rows go without the lock of the head, but for those of signups that come meanwhile. */
async function leaveNext(
  site: Site,
  message: string,
  now: Millis,
  from: Reached,
): Promise<Reached | undefined> {
  const { db, id, secret } = site
  const found = await reading(db, leaverBy(id, message, from))
  if (!found) return undefined
  const { positions, address, next, upto } = found
  const erasing = function* (): Operation<void> {
    yield* eraseListed(site, positions, { isLeaving: true, address })
    // After a kill, nothing may tell the address any more.
    if (address !== '') yield* ask(...stepsToBury(id, addressHash(secret, address), upto))
  }
  if (positions.length > 0) await db.transact([siteLock(id)], erasing)
  if (next !== undefined) return { after: next, address }
  const last = { after: upto, address }
  return db.transact([headLock, siteLock(id)], () => leaving(site, message, now, last))
}

/** Who leaves by the link of a welcome, with their next signups. */
function* leaverBy(
  site: number,
  message: string,
  { after, address }: Reached,
): Operation<(AddressSlice & { person: string; address: string }) | undefined> {
  const linked = yield* linkedBy(site, message)
  if (linked?.kind !== 'welcome') return undefined
  const { person, email } = linked
  const [listed] = yield* ask(stepToFindListed(site, person))
  const known = [email, ...addressesIn(listed), address].find((it) => it !== '') ?? ''
  return { ...(yield* findByHash(site, person, after)), person, address: known }
}

/** Lets who has no row up to this position leave. Returns how far that was when there may be more. */
function* leaving(
  site: Site,
  message: string,
  now: Millis,
  from: Reached,
): Operation<Reached | undefined> {
  const { id, secret } = site
  const found = yield* leaverBy(id, message, from)
  if (!found) return undefined
  const { person, positions, address, next } = found
  const [greeted] = yield* ask([sql.greeted, message])
  const expired = greeted.rows.map(({ position }) => Number(position))
  const all = [...new Set([...positions, ...expired])]
  yield* eraseListed(site, all, { isLeaving: true, address })
  if (next !== undefined) return { after: next, address }
  yield* endingAll(site, person, now)
  yield* ask(
    ...(address === ''
      ? [stepToDropKept(id, person)]
      : stepsToBury(id, addressHash(secret, address))),
    stepToBlock(id, person, 'left', now, null),
    stepToDropWelcomes(id, person, now),
    [sql.forgetWelcome, id, person, address === '' && expired.length > 0],
  )
  return undefined
}
