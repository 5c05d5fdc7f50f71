import type { Millis, SignupId } from '../../signup/signup.ts'
import type { Signal } from '../../signup/suspicion.ts'
import type { Left, Quarantine } from '../contracts/quarantine.ts'
import type { SignupRecord } from '../contracts/reader.ts'
import {
  ask,
  givenPositions,
  givenRows,
  headLock,
  messageLock,
  type Operation,
  type Row,
  siteLock,
  statementsOf,
  type Step,
} from '../sql.ts'
import { cellColumns, stepsToAppend } from './append-one.ts'
import { eraseForgotten, forgottenAmong, hashedSignups, noneErased } from './erase.ts'
import { besideState } from './layout.ts'
import { stepsToGreet } from './mails.ts'
import { givenNumbers, pendingColumns, stepsToCountSuspects, stepsToEnd } from './pending.ts'
import { idOf, recordColumns, toRecord } from './rows.ts'
import type { ReadSite } from './facts.ts'
import type { Site } from './site.ts'

const sql = statementsOf('quarantine', ({ given, id, signupAt }) => {
  // Those that are still held, each with the tab that it asked for. CROSS JOIN keeps the order of the tables.
  const held = `CROSS JOIN tab WHERE tab.id = suspect.tab AND tab.site = $1 AND signup.email <> ''
    AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position)`
  const suspectAt = (position: string) =>
    `CROSS JOIN suspect ${signupAt('suspect.position')} ${held} AND suspect.position = ${position}`
  // Those that are held beside the list have no mail.
  const isBeside = `site = $1 AND signals <> '' AND state = ${besideState.pending}`
  return {
    // Nothing of a request that was a replay.
    hold: `INSERT INTO suspect (position, tab, signals)
           SELECT position, tab, signals FROM (
             SELECT signals, (SELECT position FROM signup WHERE signup.id = ${id('given.id')}) AS position,
               (SELECT tab.id FROM tab WHERE site = $1 AND tab.key = given.key) AS tab
             FROM ${given('given', '$2', { id: 'text', key: 'text', signals: 'text' })}
           ) AS stored WHERE position IS NOT NULL`,
    page: `SELECT ${recordColumns} FROM suspect ${signupAt('suspect.position')} ${held}
           AND suspect.position > $2 ORDER BY suspect.position LIMIT $3`,
    find: `SELECT ${recordColumns} FROM ${given('asked', '$2', { id: 'text' })}
           ${suspectAt(`(SELECT position FROM signup WHERE signup.id = ${id('asked.id')})`)}
           ORDER BY signup.position`,
    heldAt: `SELECT signup.position, signup.id, received_at AS "receivedAt", suspect.tab AS asked,
               ${cellColumns.map((column) => `signup.${column}`).join(', ')}
             FROM ${given('asked', '$2', { position: 'number' })} ${suspectAt('asked.position')}
             ORDER BY signup.position`,
    mark: 'UPDATE suspect SET mark = $2 WHERE position = $1',
    rename: `UPDATE signup SET id = ${id('$2')} WHERE position = $1`,
    pageBeside: `SELECT ${pendingColumns} FROM pending
                 WHERE ${isBeside} AND number > $2 ORDER BY number LIMIT $3`,
    findBeside: `SELECT ${pendingColumns} FROM ${given('asked', '$2', { id: 'text' })}
                 CROSS JOIN pending WHERE pending.id = ${id('asked.id')} AND ${isBeside} ORDER BY number`,
    besideAt: `SELECT number FROM ${given('asked', '$2', { position: 'number' })}
               CROSS JOIN pending WHERE pending.number = asked.position AND ${isBeside} ORDER BY number`,
    // Its mail goes as if it was asked for now.
    releaseBeside: `UPDATE pending SET signals = '', mail_wanted = true, expires_at = NULL
                    WHERE number IN (SELECT position FROM ${given('asked', '$1', { position: 'number' })})`,
  }
})

/** A suspect signup that was added in this transaction, with the key of the tab that it asked for. */
export interface Suspect {
  readonly id: SignupId
  readonly key: string
  readonly suspect: readonly Signal[]
  readonly receivedAt: number
}

/** Counts suspect signups, and notes what those asked for that are held. To run behind the statements that add them. */
export function stepsToNote(
  { id, policy }: Pick<Site, 'id' | 'policy'>,
  suspects: readonly Suspect[],
): readonly Step[] {
  const counting = stepsToCountSuspects(id, suspects)
  if (policy.quarantineTab === undefined || suspects.length === 0) return counting
  const rows = suspects.map(({ id, key, suspect }) => ({ id, key, signals: suspect.join(',') }))
  return [...counting, [sql.hold, id, givenRows(rows)]]
}

/** What a request told of its sender is not kept with what is held. */
const unknownSender = { share: '', language: '' }

/** The positions of those that are held beside the list stand behind all others. */
export const besideBase = 2 ** 51

function toHeldBeside(row: Row): SignupRecord {
  const { position, signup } = toRecord(row)
  return { position: position + besideBase, signup }
}

/** As `Reader.held`. */
export async function heldAfter({ db, id }: ReadSite, after: number, max: number) {
  const [{ rows }] = await db.query([sql.page, id, after, max])
  const records = rows.map(toRecord)
  if (records.length === max) return records
  const rest = [Math.max(0, after - besideBase), max - records.length] as const
  const [beside] = await db.query([sql.pageBeside, id, ...rest])
  return [...records, ...beside.rows.map(toHeldBeside)]
}

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
      db.transact([headLock, siteLock(id), ...greets], function* () {
        const beside = yield* decidingBeside(site, positions, 'release')
        return withBeside(yield* releasing(site, positions, now), beside)
      }),
    erase: (positions) =>
      db.transact([siteLock(id)], function* () {
        const beside = yield* decidingBeside(site, positions, 'erase')
        const [held] = yield* ask([sql.heldAt, id, givenPositions([...new Set(positions)])])
        return withBeside(yield* leaving(site, held.rows, true), beside)
      }),
  }
}

/** Decides on those of them that are held beside the list. Returns how many they are. */
function* decidingBeside(
  site: Site,
  positions: readonly number[],
  decision: 'release' | 'erase',
): Operation<number> {
  const beside = positions.filter((position) => position > besideBase)
  if (beside.length === 0) return 0
  const asked = givenPositions(beside.map((position) => position - besideBase))
  const [{ rows }] = yield* ask([sql.besideAt, site.id, asked])
  const numbers = givenNumbers(rows)
  yield decision === 'release' ? [[sql.releaseBeside, numbers]] : stepsToEnd(site, numbers)
  return rows.length
}

/** They have no row in quarantine. */
function withBeside(left: Left, beside: number): Left {
  return { ...left, unwritten: left.unwritten + beside }
}

function* releasing(site: Site, positions: readonly number[], now: Millis): Operation<Left> {
  const { id, secret } = site
  const [held] = yield* ask([sql.heldAt, id, givenPositions([...new Set(positions)])])
  // A person who was forgotten meanwhile stays so: no tombstone covers the new position.
  const forgotten = yield* forgottenAmong(id, hashedSignups(secret, held.rows))
  const released = held.rows.filter((row) => !forgotten.includes(positionOf(row)))
  if (released.length === 0) return noneErased
  yield released.flatMap((row): Step[] => {
    const signup = { id: idOf(row['id']), email: String(row['email']), receivedAt: now }
    return [
      [sql.rename, positionOf(row), otherId(signup.id)],
      ...stepsToAppend(site, row, Number(row['asked'])),
      ...stepsToGreet(site, [signup], { greeting: unknownSender }),
    ]
  })
  return yield* leaving(site, released, false)
}

/** Empties these positions. Other rows may have the address and the time, but none has the mark. */
function* leaving(site: Site, held: readonly Row[], isErased: boolean): Operation<Left> {
  yield held.map((row): Step => [sql.mark, positionOf(row), idOf(row['id'])])
  return yield* eraseForgotten(site, held.map(positionOf), isErased)
}

function positionOf({ position }: Row): number {
  return Number(position)
}

/** Another UUIDv7 of the same time, for the position that a signup has left. */
function otherId(id: SignupId): string {
  return id.slice(0, 19) + crypto.randomUUID().slice(19)
}
