import { day } from '../../platform/clock.ts'
import type { Millis, SignupId } from '../../signup/signup.ts'
import type { Signal } from '../../signup/suspicion.ts'
import { heldMs, type Quarantine, type Released } from '../contracts/quarantine.ts'
import type { HeldEnding, SignupRecord } from '../contracts/reader.ts'
import { personOf } from '../hashes.ts'
import {
  ask,
  flagOf,
  givenPositions,
  givenRows,
  headLock,
  messageLock,
  numberOf,
  type Operation,
  type Row,
  rowOf,
  rowReader,
  siteLock,
  statementsOf,
  type Step,
} from '../sql.ts'
import { statusOfNew } from './append-one.ts'
import { givenNumbers, lastEndOf, stepsToEnd } from './pending/ending.ts'
import { eraseListed, forgottenAmong, hashedSignups, isInFrozen } from './erase.ts'
import type { ReadSite } from './facts.ts'
import { besideState, rowStatus } from './layout.ts'
import { stepsToGreet } from './mail/mails.ts'
import { pendingColumns, stepsToCountSuspects } from './pending/pending.ts'
import { heldColumns, idOf, toRecord } from './rows.ts'
import { stepToCountIfSeatless } from './seats.ts'
import { countingReleased, countLock } from './shares.ts'
import type { Site } from './site.ts'
import { stepToCount } from './tally.ts'
import { stepToTellReleased } from './webhooks.ts'

/** How many held signups are looked at, in the order in which they came: more are told as so many. */
const countedMax = 1_000

const sql = statementsOf('quarantine', (dialect) => {
  const { given, id, signupAt } = dialect
  const positions = (name: string, parameter: string) =>
    given(name, parameter, { position: 'number' })
  const idAt = (column: string) => `(SELECT position FROM signup WHERE signup.id = ${id(column)})`
  // CROSS JOIN keeps the order of the tables, so SQLite looks each position up.
  const heldAt = (position: string) =>
    `CROSS JOIN held ${signupAt('held.position')} CROSS JOIN tab
     WHERE held.site = $1 AND held.position = ${position} AND tab.id = signup.tab`
  // Those that are held beside the list have no mail.
  const isBeside = `site = $1 AND signals <> '' AND state = ${besideState.pending}`
  return {
    hold: `INSERT INTO held (site, position, signals)
           SELECT $1, signup.position, signals FROM ${given('given', '$2', { id: 'text', signals: 'text' })}
           ${signupAt(idAt('given.id'))}`,
    page: `SELECT ${heldColumns} FROM held ${signupAt('held.position')} CROSS JOIN tab
           WHERE held.site = $1 AND held.position > $2 AND tab.id = signup.tab
           ORDER BY held.position LIMIT $3`,
    ending: `SELECT count(*) AS waiting, min(received_at) AS oldest FROM (
               SELECT received_at FROM (
                 SELECT position FROM held WHERE site = $1 ORDER BY position LIMIT ${countedMax}
               ) AS listed ${signupAt('listed.position')}
               UNION ALL SELECT received_at FROM (
                 SELECT received_at FROM pending WHERE site = $1 AND signals <> ''
                 ORDER BY number LIMIT ${countedMax}) AS beside
             ) AS held WHERE received_at < $2`,
    find: `SELECT ${heldColumns} FROM ${given('asked', '$2', { id: 'text' })}
           ${heldAt(idAt('asked.id'))} ORDER BY signup.position`,
    at: `SELECT signup.position, signup.id, signup.email, received_at AS "receivedAt",
           signup.position <= coalesce(
             (SELECT written_to FROM progress WHERE progress.tab = signup.tab), 0) AS "isPassed",
           ${isInFrozen('$1')} AS "isFrozen"
         FROM ${positions('asked', '$2')} ${heldAt('asked.position')}`,
    // With its person, an import knows it that has read the addresses before.
    release: `UPDATE signup SET person = $5, row_status = CASE WHEN $4 THEN ${rowStatus.none} ELSE ${statusOfNew(dialect, { person: 'signup.person', tab: 'signup.tab', hash: '$2', site: '$3' })} END
              WHERE position = $1 AND row_status = ${rowStatus.held}`,
    drop: `DELETE FROM held WHERE site = $1
           AND position IN (SELECT position FROM ${positions('released', '$2')})`,
    // Those that their cursor has passed.
    uncount: `UPDATE progress SET held = held - passed.count, written = written - passed.count
              FROM (SELECT signup.tab, count(*) AS count
                    FROM ${positions('released', '$1')} ${signupAt('released.position')}
                    GROUP BY signup.tab) AS passed
              WHERE progress.tab = passed.tab`,
    // A duplicate gets no row by it, but a batch with which its cells expire.
    queue: `INSERT INTO redelivery (tab, position, queued_at, is_first)
            SELECT signup.tab, signup.position, $2, true
            FROM ${positions('released', '$1')} ${signupAt('released.position')}`,
    pageBeside: `SELECT ${pendingColumns} FROM pending
                 WHERE ${isBeside} AND number > $2 ORDER BY number LIMIT $3`,
    findBeside: `SELECT ${pendingColumns} FROM ${given('asked', '$2', { id: 'text' })}
                 CROSS JOIN pending WHERE pending.id = ${id('asked.id')} AND ${isBeside} ORDER BY number`,
    besideAt: `SELECT number FROM ${positions('asked', '$2')}
               CROSS JOIN pending WHERE pending.number = -asked.position AND ${isBeside} ORDER BY number`,
    // Its mail goes as if it was asked for now. A status never goes back.
    releaseBeside: `UPDATE pending SET signals = '', mail_wanted = true, expires_at = $2,
                      is_late = is_late OR expires_at <= $3
                    WHERE number IN (SELECT position FROM ${positions('asked', '$1')})`,
  }
})

/** A suspect signup that was added in this transaction. */
export interface Suspect {
  readonly id: SignupId
  readonly suspect: readonly Signal[]
  readonly receivedAt: number
}

/** Whether a new signup is held. */
export function isHeld(
  { policy }: Pick<Site, 'policy'>,
  { suspect }: Partial<Pick<Suspect, 'suspect'>>,
): boolean {
  return suspect !== undefined && policy.holdsSuspects === true
}

/** Counts suspect signups, and notes the signs of held ones. To run behind the statements that add them. */
export function stepsToNote(
  site: Pick<Site, 'id' | 'policy'>,
  suspects: readonly Suspect[],
): readonly Step[] {
  const counting = stepsToCountSuspects(site, suspects)
  const held = suspects.filter((one) => isHeld(site, one))
  if (held.length === 0) return counting
  const rows = held.map(({ id, suspect }) => ({ id, signals: suspect.join(',') }))
  return [...counting, [sql.hold, site.id, givenRows(rows)]]
}

/** What a request told of its sender is not kept with what is held. */
const unknownSender = { share: '', language: '' }

function toHeldBeside(row: Row): SignupRecord {
  const { position, signup } = toRecord(row)
  return { position: -position, signup }
}

/** As `Reader.held`. */
export async function heldAfter({ db, id }: ReadSite, after: number, max: number) {
  const isBeside = after < 0
  const [listed, beside] = await db.query(
    [sql.page, id, isBeside ? Number.MAX_SAFE_INTEGER : after, max],
    [sql.pageBeside, id, isBeside ? -after : 0, max],
  )
  return [...listed.rows.map(toRecord), ...beside.rows.map(toHeldBeside)].slice(0, max)
}

/** As `Reader.heldEnding`. */
export async function heldEnding({ db, id }: ReadSite, now: Millis): Promise<HeldEnding> {
  const until = (Math.floor(now / week) + 2) * week
  const [found] = await db.query([sql.ending, id, until - heldMs])
  return { ...toEnding(rowOf(found)), until }
}

const week = 7 * day
const toEnding = rowReader({ waiting: Number, oldest: numberOf })

/** How the suspect signups of one site are decided on. */
export function quarantineOf(site: Site): Quarantine {
  const { db, id, policy } = site
  const greets = policy.welcomes === true ? [messageLock] : []
  return {
    find: async (ids) => {
      const asked = givenRows([...new Set(ids)].map((one) => ({ id: one })))
      const [listed, beside] = await db.query([sql.find, id, asked], [sql.findBeside, id, asked])
      return [...listed.rows.map(toRecord), ...beside.rows.map(toHeldBeside)]
    },
    release: (positions, now) =>
      db.transact([headLock, siteLock(id), countLock, ...greets], () =>
        releasing(site, positions, now),
      ),
    erase: (positions) => db.transact([siteLock(id)], () => erasing(site, positions)),
  }
}

/** The signups at these positions that are held: in the list, and the numbers of those beside it. */
function* heldAt(site: number, positions: readonly number[]) {
  const asked = givenPositions([...new Set(positions)])
  const [listed, beside] = yield* ask([sql.at, site, asked], [sql.besideAt, site, asked])
  return { listed: listed.rows, beside: beside.rows }
}

function* erasing(site: Site, positions: readonly number[]): Operation<number> {
  const { listed, beside } = yield* heldAt(site.id, positions)
  if (beside.length > 0) yield stepsToEnd(site, givenNumbers(beside), site.now())
  yield* eraseListed(site, listed.map(positionOf))
  return listed.length + beside.length
}

function* releasing(site: Site, positions: readonly number[], now: Millis): Operation<Released> {
  const { id, secret, policy } = site
  const { listed, beside } = yield* heldAt(id, positions)
  if (beside.length > 0) {
    const until = lastEndOf(policy, now)
    yield [[sql.releaseBeside, givenNumbers(beside), until, site.now()]]
  }
  const forgotten = yield* forgottenAmong(id, hashedSignups(secret, listed))
  const known = listed.filter((row) => !forgotten.includes(positionOf(row)))
  const frozen = known.filter((row) => flagOf(row['isFrozen']))
  const released = known.filter((row) => !frozen.includes(row))
  if (released.length > 0) {
    yield* releasingListed(site, released, now)
    yield stepsToGreet(
      site,
      released.map((row) => ({
        id: idOf(row['id']),
        email: String(row['email']),
        receivedAt: now,
      })),
      { greeting: unknownSender },
    )
  }
  return { signups: released.length + beside.length, frozen: frozen.map(positionOf) }
}

/** Releases signups that no frozen batch holds. Those that the cursor of their tab has passed are delivered once more. */
function* releasingListed(
  site: Site,
  rows: readonly Row[],
  now: Millis,
  areDuplicates = false,
): Operation<void> {
  const { id, secret, policy } = site
  const positions = rows.map(positionOf)
  const all = givenPositions(positions)
  const passed = givenPositions(rows.filter((row) => flagOf(row['isPassed'])).map(positionOf))
  const hashes = hashedSignups(secret, rows)
  yield hashes.map(({ position, hash }): Step => {
    const known = policy.duplicates === 'ignore' ? hash : null
    return [sql.release, position, known, id, areDuplicates, personOf(hash)]
  })
  yield [
    [sql.drop, id, all],
    ...rows.flatMap((row) => [
      stepToCount(id, 'accepted', Number(row['receivedAt'])),
      stepToCountIfSeatless(site, idOf(row['id'])),
    ]),
    [sql.uncount, passed],
    [sql.queue, passed, now],
    stepToTellReleased(id, all),
  ]
  yield* countingReleased(positions)
}

/** What was decided on signups in quarantine by a journal that a restored one replaces. */
export interface DecidedBefore {
  readonly released: readonly number[]
  /** Released ones that got no row, as they were duplicates. */
  readonly duplicates: readonly number[]
  readonly erased: readonly number[]
}

/** Takes it over, without a mail. What was released may have its row, which is compared like all that waits. */
export function* takingOver(site: Site, before: DecidedBefore, now: Millis): Operation<void> {
  const { released, duplicates, erased } = before
  for (const [positions, areDuplicates] of [
    [released, false],
    [duplicates, true],
  ] as const) {
    const { listed } = yield* heldAt(site.id, positions)
    if (listed.length > 0) yield* releasingListed(site, listed, now, areDuplicates)
  }
  yield* eraseListed(site, erased)
}

function positionOf({ position }: Row): number {
  return Number(position)
}
