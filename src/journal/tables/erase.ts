import type { ErasedSlice } from '../contracts/erasure.ts'
import { restoredFact } from '../contracts/delivery-log.ts'
import { addressHash, type Secret } from '../hashes.ts'
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
import { stepToCount } from './tally.ts'
import { stepToTellErased } from './webhooks.ts'

/** Erasures that are part of a larger transaction, which holds the lock of the site. */

/** What a signup whose cells have expired has in them, and what an erased one has. */
export const expiredCells = `email = '', source = '', name = '', tags = '', metadata = '', fields = ''`
const erasedCells = `${expiredCells}, person = NULL`

/**
 * Whether the signup that is changed is at a position of given rows. Where the two are only equal,
 * PostgreSQL may read the positions of all signups, because it thinks that given rows are many.
 */
export function isAt(position: string): string {
  return `signup.position BETWEEN ${position} AND ${position}`
}

/** Whether the frozen batch of this site holds a signup by a range, in SQL. */
export function isInFrozen(site: string): string {
  return `EXISTS (
    SELECT 1 FROM batch JOIN batch_range ON batch_range.batch = batch.number
    WHERE batch.site = ${site} AND settled_at IS NULL AND batch_range.tab = signup.tab
      AND signup.position > after AND signup.position <= upto)`
}

const { wanted, none, present, held: inQuarantine } = rowStatus

const sql = statementsOf('erase', ({ given, lower, signupAt }) => {
  const signups = `${given('given', '$1', { position: 'number' })} ${signupAt('given.position')}`
  // Signups that wait to be delivered once more.
  const waiting = `${signups} JOIN redelivery
    ON redelivery.tab = signup.tab AND redelivery.position = signup.position
    WHERE redelivery.batch IS NULL`
  const again = (condition: string) => `SELECT 1 FROM redelivery
    WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position AND ${condition}`
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
    // The signups of the site $3 after $1 up to $2. The cheapest condition first: SQLite keeps the order. A join
    // with the tab might begin with all its signups.
    addressed: `SELECT position, email FROM signup WHERE position > $1 AND position <= $2
                AND (CAST($4 AS text) IS NULL OR ${lower('email')} = $4) AND email <> ''
                AND (SELECT site FROM tab WHERE tab.id = signup.tab) = $3 ORDER BY position`,
    erasable: `
      SELECT signup.position, row_status AS status,
        signup.position <= coalesce(written_to, 0) AND (${again('is_first')}) IS NULL AS "isWritten",
        ${isInFrozen('$2')} OR (${again('batch IS NOT NULL')}) IS NOT NULL AS "isFrozen",
        EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position) AS "isCounted"
      FROM ${signups} LEFT JOIN progress ON progress.tab = signup.tab
      WHERE signup.email <> ''
        OR (CAST($3 AS text) <> '' AND row_status NOT IN (${none}, ${inQuarantine}))`,
    addRemovals: `INSERT INTO removal (position, email, is_leaving)
                  SELECT signup.position, CASE WHEN signup.email = '' THEN $3 ELSE signup.email END, $2
                  FROM ${signups} WHERE true
                  ON CONFLICT DO NOTHING`,
    countWaiting: `UPDATE progress
                   SET written = written + (
                     SELECT count(*) FROM ${waiting} AND redelivery.tab = progress.tab)
                   WHERE tab IN (SELECT redelivery.tab FROM ${waiting})`,
    dropWaiting: `DELETE FROM redelivery
                  WHERE (tab, position) IN (SELECT redelivery.tab, redelivery.position FROM ${waiting})`,
    erase: `UPDATE signup SET ${erasedCells}, row_status = erased.status
            FROM ${given('erased', '$1', { position: 'number', status: 'integer' })}
            WHERE ${isAt('erased.position')}`,
    dropHeld: `DELETE FROM held WHERE site = $1
               AND position IN (SELECT position FROM ${given('erased', '$2', { position: 'number' })})`,
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

type ErasingSite = Pick<Site, 'id' | 'noteErased' | 'now'>

/**
 * Erases the forgotten signups of a batch that is settled, or that a backup holds frozen: it may have been
 * written since. Their rows have to be removed. To run after the cursors of a settled batch were moved, and
 * while the batch still has its ranges and redeliveries.
 */
export function eraseHeld(
  { noteErased }: Pick<Site, 'noteErased'>,
  batch: number,
): readonly Step[] {
  return [[sql.eraseHeld, batch], ...noteErased()]
}

/**
 * Erases the forgotten signups of a batch that is released. They get no row by it, but one that was to be
 * delivered once more may have a row. To run while the batch still has its ranges.
 */
export function eraseReleased(site: Pick<Site, 'noteErased'>, batch: number): readonly Step[] {
  return [[sql.markEnded, batch], ...eraseHeld(site, batch), [sql.dropEnded]]
}

/** Finds the positions of an address, in lower case, after `after` up to `end`: an index is not needed. */
export function stepToFindAddress(
  site: number,
  after: number,
  end: number,
  address: string | null,
): Step {
  return [sql.addressed, after, end, site, address]
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
 * Erases the signups at these positions. Leaves out those that another process has erased meanwhile.
 *
 * @param options `isCounted` is false for those that nobody had erased, `isLeaving` true for those of somebody
 *   who has left by a link; `address` is that of those whose cells have expired, which else stay
 */
export function* eraseListed(
  { id, noteErased, now }: ErasingSite,
  found: readonly number[],
  { isCounted = true, isLeaving = false, address = '' } = {},
): Operation<Erased> {
  if (found.length === 0) return noneErased
  const [{ rows }, restored] = yield* ask(
    [sql.erasable, givenPositions(found), id, address],
    getFact(id, restoredFact),
  )
  const restoredTo = Number(restored.rows[0]?.['value'] ?? 0)
  const signups = rows.map((row) => outcomeOfErasing(row, restoredTo))
  const removals = signups.filter(({ kind }) => kind !== 'unwritten')
  const erased = signups.filter(({ kind }) => kind !== 'frozen')
  const positions = givenPositions(positionsOf(erased))
  // One that was frozen when it was erased before has its removal. Held ones were never on the list.
  const isNew = (row: Row) => !flagOf(row['isCounted']) && Number(row['status']) !== inQuarantine
  const count = isCounted ? rows.filter(isNew).length : 0
  yield* ask(
    ...(count > 0 ? [stepToCount(id, 'erased', now(), count)] : []),
    stepToTellErased(id, found),
    [sql.addRemovals, givenPositions(positionsOf(removals)), isLeaving, address],
    // A signup that waits to be delivered once more counts as not written.
    [sql.countWaiting, positions],
    [sql.dropWaiting, positions],
    [sql.dropHeld, id, positions],
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
  const mayHaveRow = position <= restoredTo
  if (status === none) return { position, kind: 'unwritten', status }
  // Of a restored journal it may have been released since the backup.
  if (status === inQuarantine) {
    return { position, kind: mayHaveRow ? 'written' : 'unwritten', status }
  }
  if (flagOf(row['isFrozen'])) return { position, kind: 'frozen', status: wanted }
  if (flagOf(row['isWritten'])) return { position, kind: 'written', status: wanted }
  return { position, kind: mayHaveRow ? 'written' : 'unwritten', status: none }
}

function positionsOf(signups: readonly { readonly position?: unknown }[]): readonly number[] {
  return signups.map(({ position }) => Number(position))
}
