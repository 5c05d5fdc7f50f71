import type { SignupId } from '../../signup/signup.ts'
import type { Signal } from '../../signup/suspicion.ts'
import type { Left, Quarantine } from '../contracts/quarantine.ts'
import { hourOf } from '../contracts/reader.ts'
import {
  ask,
  givenPositions,
  givenRows,
  headLock,
  type Operation,
  type Row,
  siteLock,
  statementsOf,
  type Step,
} from '../sql.ts'
import { cellColumns, stepsToAppend } from './append-one.ts'
import { eraseForgotten, forgottenAmong, hashedSignups, noneErased } from './erase.ts'
import { allHours } from './layout.ts'
import { besideBase, heldAmong, heldBeside, heldPending, stepToClose } from './pending.ts'
import { idOf, recordColumns, toRecord } from './rows.ts'
import type { ReadSite } from './facts.ts'
import type { Site } from './site.ts'

const sql = statementsOf('quarantine', ({ given, id, signupAt }) => {
  // What was stored of the suspect signups $2: nothing of a request that was a replay.
  const stored = `(
    SELECT given.*, (SELECT position FROM signup WHERE signup.id = ${id('given.id')}) AS position,
      (SELECT tab.id FROM tab WHERE site = $1 AND tab.key = given.key) AS tab
    FROM ${given('given', '$2', { id: 'text', key: 'text', signals: 'text', hour: 'integer' })}
  ) AS stored WHERE position IS NOT NULL`
  // Those that are still held, each with the tab that it asked for. CROSS JOIN keeps the order of the tables.
  const held = `CROSS JOIN tab WHERE tab.id = suspect.tab AND tab.site = $1 AND signup.email <> ''
    AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position)`
  const suspectAt = (position: string) =>
    `CROSS JOIN suspect ${signupAt('suspect.position')} ${held} AND suspect.position = ${position}`
  return {
    hold: `INSERT INTO suspect (position, tab, signals) SELECT position, tab, signals FROM ${stored}`,
    count: `INSERT INTO hour_suspect AS known (site, hour, signals, count)
            SELECT $1, hour, signals, count(*) FROM ${stored} GROUP BY hour, signals
            ON CONFLICT (site, hour, signals) DO UPDATE SET count = known.count + excluded.count`,
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
  if (suspects.length === 0) return []
  const rows = suspects.map(({ id: signup, key, suspect, receivedAt }) => ({
    id: signup,
    key,
    signals: suspect.join(','),
    hour: hourOf(receivedAt),
  }))
  const sums = rows.map((row) => ({ ...row, hour: allHours }))
  const counting: Step = [sql.count, id, givenRows([...rows, ...sums])]
  if (policy.quarantineTab === undefined) return [counting]
  return [counting, [sql.hold, id, givenRows(rows)]]
}

/** As `Reader.held`. */
export async function heldAfter({ db, id }: ReadSite, after: number, max: number) {
  const [{ rows }] = await db.query([sql.page, id, after, max])
  const records = rows.map(toRecord)
  if (records.length === max) return records
  return [...records, ...(await heldBeside({ db, id }, after, max - records.length))]
}

/** How the suspect signups of one site are decided on. */
export function quarantineOf(site: Site): Quarantine {
  const { db, id } = site
  return {
    find: async (ids) => {
      const asked = givenRows([...new Set(ids)].map((one) => ({ id: one })))
      const [{ rows }] = await db.query([sql.find, id, asked])
      return [...rows.map(toRecord), ...(await heldAmong(site, ids))]
    },
    release: (positions) =>
      db.transact([headLock, siteLock(id)], function* () {
        const beside = yield* decidingBeside(site, positions, heldPending.release)
        return withBeside(yield* releasing(site, positions), beside)
      }),
    erase: (positions) =>
      db.transact([siteLock(id)], function* () {
        const beside = yield* decidingBeside(site, positions, heldPending.erase)
        if (beside > 0) yield* ask(...site.noteErased(), stepToClose(id, beside))
        const [held] = yield* ask([sql.heldAt, id, givenPositions([...new Set(positions)])])
        return withBeside(yield* leaving(site, held.rows), beside)
      }),
  }
}

/** Decides on those that are held beside the list. Returns how many they are. */
function* decidingBeside(
  { id }: Site,
  positions: readonly number[],
  decide: (row: Row) => Step,
): Operation<number> {
  const beside = [...new Set(positions)].filter((position) => position > besideBase)
  if (beside.length === 0) return 0
  const [{ rows }] = yield* ask(heldPending.at(id, beside))
  yield rows.map(decide)
  return rows.length
}

/** They have no row in quarantine. */
function withBeside(left: Left, beside: number): Left {
  return { ...left, unwritten: left.unwritten + beside }
}

function* releasing(site: Site, positions: readonly number[]): Operation<Left> {
  const { id, secret } = site
  const [held] = yield* ask([sql.heldAt, id, givenPositions([...new Set(positions)])])
  // A person who was forgotten meanwhile stays so: no tombstone covers the new position.
  const forgotten = yield* forgottenAmong(id, hashedSignups(secret, held.rows))
  const released = held.rows.filter((row) => !forgotten.includes(positionOf(row)))
  if (released.length === 0) return noneErased
  yield released.flatMap((row): Step[] => {
    const renaming: Step = [sql.rename, positionOf(row), otherId(idOf(row['id']))]
    return [renaming, ...stepsToAppend(site, row, Number(row['asked']))]
  })
  return yield* leaving(site, released)
}

/** Empties these positions. Other rows may have the address and the time, but none has the mark. */
function* leaving(site: Site, held: readonly Row[]): Operation<Left> {
  yield held.map((row): Step => [sql.mark, positionOf(row), idOf(row['id'])])
  return yield* eraseForgotten(site, held.map(positionOf))
}

function positionOf({ position }: Row): number {
  return Number(position)
}

/** Another UUIDv7 of the same time, for the position that a signup has left. */
function otherId(id: SignupId): string {
  return id.slice(0, 19) + crypto.randomUUID().slice(19)
}
