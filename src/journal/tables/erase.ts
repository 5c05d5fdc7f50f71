import type { ErasedSlice } from '../contracts/erasure.ts'
import { restoredFact } from '../contracts/delivery-log.ts'
import { addressHash, type Secret } from '../hashes.ts'
import { systemClock } from '../../platform/clock.ts'
import { hourOf } from '../contracts/reader.ts'
import {
  ask,
  flagOf,
  givenPositions,
  givenRows,
  type Operation,
  type Row,
  statementsOf,
  type Step,
} from '../sql.ts'
import { getFact } from './facts.ts'
import { rowStatus } from './layout.ts'
import type { Site } from './site.ts'
import { stepToTellErased } from './webhooks.ts'

/** Erasures that are part of a larger transaction, which holds the lock of the site. */

/** What an erased signup has in its cells. */
export const erasedCells = `email = '', source = '', name = '', tags = '', metadata = '', fields = ''`

/**
 * Whether the signup that is changed is at a position of given rows. Where the two are only equal,
 * PostgreSQL may read the positions of all signups, because it thinks that given rows are many.
 */
export function isAt(position: string): string {
  return `signup.position BETWEEN ${position} AND ${position}`
}

const { wanted, none, present } = rowStatus

const sql = statementsOf('erase', ({ given, signupAt }) => {
  const signups = `${given('given', '$1', { position: 'number' })} ${signupAt('given.position')}`
  // Signups that wait to be delivered once more.
  const waiting = `${signups} JOIN redelivery
    ON redelivery.tab = signup.tab AND redelivery.position = signup.position
    WHERE redelivery.batch IS NULL`
  // The forgotten signups of the batch $1 that still have their cells.
  const held = `
    SELECT removal.position, removal.position <= coalesce(written_to, 0) AS "isWritten"
    FROM removal ${signupAt('removal.position')}
    LEFT JOIN progress ON progress.tab = signup.tab
    WHERE signup.email <> '' AND (EXISTS (
      SELECT 1 FROM batch_range
      WHERE batch = $1 AND batch_range.tab = signup.tab
        AND removal.position > after AND removal.position <= upto
    ) OR EXISTS (
      SELECT 1 FROM redelivery WHERE batch = $1 AND redelivery.position = removal.position))`
  return {
    // A tombstone covers signups up to its position. Later ones of the person are new.
    forgotten: `SELECT found.position
                FROM ${given('found', '$2', { position: 'number', hash: 'text' })}
                JOIN tombstone ON tombstone.site = $1 AND tombstone.hash = found.hash
                WHERE found.position <= upto`,
    erasable: `
      SELECT signup.position, row_status AS status,
        signup.position <= coalesce(written_to, 0) AS "isWritten",
        EXISTS (
          SELECT 1 FROM batch JOIN batch_range ON batch_range.batch = batch.number
          WHERE batch.site = $2 AND settled_at IS NULL AND batch_range.tab = signup.tab
            AND signup.position > after AND signup.position <= upto
        ) OR EXISTS (
          SELECT 1 FROM redelivery
          WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position
            AND batch IS NOT NULL
        ) AS "isFrozen",
        EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position) AS "isCounted"
      FROM ${signups} LEFT JOIN progress ON progress.tab = signup.tab
      WHERE signup.email <> ''`,
    addRemovals: `INSERT INTO removal (position, email)
                  SELECT signup.position, signup.email FROM ${signups} WHERE true
                  ON CONFLICT DO NOTHING`,
    count: `INSERT INTO hour_erased AS known (site, hour, count) VALUES ($1, $2, $3)
            ON CONFLICT (site, hour) DO UPDATE SET count = known.count + excluded.count`,
    countWaiting: `UPDATE progress
                   SET written = written + (
                     SELECT count(*) FROM ${waiting} AND redelivery.tab = progress.tab)
                   WHERE tab IN (SELECT redelivery.tab FROM ${waiting})`,
    dropWaiting: `DELETE FROM redelivery
                  WHERE (tab, position) IN (SELECT redelivery.tab, redelivery.position FROM ${waiting})`,
    erase: `UPDATE signup SET ${erasedCells}, row_status = erased.status
            FROM ${given('erased', '$1', { position: 'number', status: 'integer' })}
            WHERE ${isAt('erased.position')}`,
    // A signup that was not written before gets no row any more.
    eraseHeld: `UPDATE signup
                SET ${erasedCells}, row_status = CASE
                  WHEN row_status = ${wanted} AND held."isWritten" THEN ${wanted}
                  ELSE ${none} END
                FROM (${held}) AS held WHERE signup.position = held.position`,
    // Nobody can tell the removals that end from others once the signups have no cells. So they are marked.
    markEnded: `UPDATE removal SET email = ''
                WHERE position IN (SELECT position FROM (${held}) AS held WHERE NOT "isWritten")`,
    dropEnded: `DELETE FROM removal WHERE email = ''`,
  }
})

type ErasingSite = Pick<Site, 'id' | 'noteErased'>

/**
 * Erases the forgotten signups of a batch that is settled, or that a backup holds frozen: it may have been
 * written since. Their rows have to be removed. To run after the cursors of a settled batch were moved, and
 * while the batch still has its ranges and redeliveries.
 */
export function eraseHeld({ noteErased }: ErasingSite, batch: number): readonly Step[] {
  return [[sql.eraseHeld, batch], ...noteErased()]
}

/**
 * Erases the forgotten signups of a batch that is released. They get no row by it, but one that was to be
 * delivered once more may have a row. To run while the batch still has its ranges.
 */
export function eraseReleased(site: ErasingSite, batch: number): readonly Step[] {
  return [[sql.markEnded, batch], ...eraseHeld(site, batch), [sql.dropEnded]]
}

/** A signup with the hash of its address. */
export type HashedSignup = Readonly<{ position: number; hash: string }>

/** Hashes the addresses of these rows. */
export function hashedSignups(secret: Secret, rows: readonly Row[]): readonly HashedSignup[] {
  return rows.map(({ position, email }) => ({
    position: Number(position),
    hash: addressHash(secret, String(email)),
  }))
}

/** The positions of those of these signups that a tombstone covers, in order. */
export function* forgottenAmong(
  site: number,
  signups: readonly HashedSignup[],
): Operation<readonly number[]> {
  if (signups.length === 0) return []
  const [{ rows }] = yield* ask([sql.forgotten, site, givenRows(signups)])
  return positionsOf(rows).toSorted((one, other) => one - other)
}

export type Erased = Pick<ErasedSlice, 'unwritten' | 'written' | 'frozen'>

export const noneErased: Erased = { unwritten: 0, written: [], frozen: [] }

/**
 * Erases the forgotten signups at these positions. Leaves out those that another process has erased meanwhile.
 *
 * @param isCounted false for those that only get another position
 */
export function* eraseForgotten(
  { id, noteErased }: ErasingSite,
  found: readonly number[],
  isCounted = true,
): Operation<Erased> {
  if (found.length === 0) return noneErased
  const [{ rows }, restored] = yield* ask(
    [sql.erasable, givenPositions(found), id],
    getFact(id, restoredFact),
  )
  const restoredTo = Number(restored.rows[0]?.['value'] ?? 0)
  const signups = rows.map((row) => outcomeOfErasing(row, restoredTo))
  const removals = signups.filter(({ kind }) => kind !== 'unwritten')
  const erased = signups.filter(({ kind }) => kind !== 'frozen')
  const positions = givenPositions(positionsOf(erased))
  // One that was frozen when it was erased before has its removal.
  const count = rows.filter((row) => isCounted && !flagOf(row['isCounted'])).length
  if (count > 0) yield* ask([sql.count, id, hourOf(systemClock.now()), count])
  yield* ask(
    stepToTellErased(id, found),
    [sql.addRemovals, givenPositions(positionsOf(removals))],
    // A signup that waits to be delivered once more counts as not written.
    [sql.countWaiting, positions],
    [sql.dropWaiting, positions],
    [sql.erase, givenRows(erased.map(({ position, status }) => ({ position, status })))],
    ...noteErased(),
  )
  return {
    unwritten: signups.length - removals.length,
    written: positionsOf(removals.filter(({ kind }) => kind === 'written')),
    frozen: positionsOf(removals.filter(({ kind }) => kind === 'frozen')),
  }
}

/**
 * What becomes of a signup that a tombstone covers. Its `status` is its `rowStatus` from now on.
 *
 * @param row of `erasable`
 * @param restoredTo up to this position, a waiting signup of a restored journal may have a row, because
 *   the writer has not yet compared it with the spreadsheet
 */
function outcomeOfErasing(
  row: Row,
  restoredTo: number,
): { position: number; kind: keyof Erased; status: number } {
  const [position, status] = [Number(row['position']), Number(row['status'])]
  if (status === present) return { position, kind: 'written', status: none }
  if (status === none) return { position, kind: 'unwritten', status: none }
  if (flagOf(row['isFrozen'])) return { position, kind: 'frozen', status: wanted }
  if (flagOf(row['isWritten'])) return { position, kind: 'written', status: wanted }
  return { position, kind: position <= restoredTo ? 'written' : 'unwritten', status: none }
}

function positionsOf(signups: readonly { readonly position?: unknown }[]): readonly number[] {
  return signups.map(({ position }) => Number(position))
}
