import { createHash } from 'node:crypto'
import type { FrozenBatch, TabSignups } from '../../signup/batch.ts'
import type { Millis } from '../../signup/signup.ts'
import type { BatchRef, DeliveryLog, TabShare, WaitingSignup } from '../contracts/delivery-log.ts'
import type { TabCursor } from '../contracts/intake-log.ts'
import { Overtaken } from '../contracts/errors.ts'
import {
  ask,
  flagOf,
  givenRows,
  type Operation,
  type Row,
  siteLock,
  statementsOf,
  type Step,
  together,
  rowOf,
} from '../sql.ts'
import { eraseHeld, eraseReleased } from './erase.ts'
import { rowStatus } from './layout.ts'
import { toWaiting, waitingColumns } from './rows.ts'
import { adding, hourOf } from './tally.ts'
import { fingerprintOf, markerFor, newMarkerBase, type Site } from './site.ts'

/** The number of the frozen batch of the site $1. */
const frozen = '(SELECT number FROM batch WHERE site = $1 AND settled_at IS NULL)'

/** Whether the signup of a redelivery is erased. */
const isErased = `(SELECT email FROM signup WHERE signup.position = redelivery.position) = ''`

/** Counts redeliveries of the batch $1 as written. */
function countWritten(condition: string): string {
  return `UPDATE progress SET written = written + again.count
          FROM (SELECT tab, count(*) AS count FROM redelivery WHERE batch = $1 AND ${condition}
                GROUP BY tab) AS again
          WHERE progress.tab = again.tab`
}

const range = { tab: 'integer', after: 'number', upto: 'number' } as const

// CROSS JOIN keeps the order of the tables in SQLite.
const sql = statementsOf('batches', ({ given, between, signupAt }) => ({
  find: `SELECT number, digest, marker.id AS marker
           FROM batch JOIN marker ON marker.site = batch.site AND marker.batch = batch.number
           WHERE batch.site = $1 AND settled_at IS NULL`,
  signups: `SELECT tab.name AS "tabName", ${waitingColumns}
            FROM batch_range CROSS JOIN signup CROSS JOIN tab
            WHERE batch_range.batch = ${frozen}
              AND ${between('batch_range.tab', 'batch_range.after', 'batch_range.upto')}
              AND tab.id = batch_range.tab
            ORDER BY batch_range.tab, signup.position`,
  again: `SELECT tab.name AS "tabName", ${waitingColumns}
          FROM redelivery ${signupAt('redelivery.position')} CROSS JOIN tab
          WHERE redelivery.batch = ${frozen} AND tab.id = redelivery.tab
          ORDER BY redelivery.tab, redelivery.position`,

  // Ranges whose last signup is in their tab, and whose tab is still delivered as far as when they were read.
  countUnmoved: `SELECT count(*) AS count
                 FROM ${given('range', '$1', range)} ${signupAt('range.upto')} CROSS JOIN progress
                 WHERE signup.tab = range.tab AND progress.tab = range.tab
                   AND progress.written_to = range.after`,
  // Many others may lie between those that are delivered once more.
  erasedOrHeld: `SELECT signup.position, email = '' AS "isErased", row_status AS "rowStatus"
           FROM ${given('range', '$1', range)} CROSS JOIN signup
           WHERE ${between('range.tab', 'range.after', 'range.upto')}
             AND (email = '' OR row_status = ${rowStatus.held})
           UNION ALL
           SELECT again.position, true, row_status FROM ${given('again', '$2', { position: 'number' })} ${signupAt('again.position')}
           WHERE email = ''`,
  nextNumber: `UPDATE counter SET value = value + 1 WHERE name = 'batch'
               RETURNING value AS number, (SELECT marker_base FROM site WHERE id = $1) AS base`,
  addBatch: 'INSERT INTO batch (number, site, digest) VALUES ($1, $2, $3)',
  addMarker: 'INSERT INTO marker (site, id, batch) VALUES ($1, $2, $3)',
  addRanges: `INSERT INTO batch_range (batch, tab, after, upto, signups, held)
              SELECT $1, tab, after, upto, signups, held
              FROM ${given('range', '$2', { ...range, signups: 'integer', held: 'integer' })}`,
  takeAgain: `UPDATE redelivery SET batch = $1
              FROM ${given('again', '$2', { tab: 'integer', position: 'number' })}
              WHERE redelivery.tab = again.tab AND redelivery.position = again.position
                AND batch IS NULL`,

  settle: `UPDATE batch SET settled_at = $3, spreadsheet = $4
           WHERE number = $2 AND site = $1 AND settled_at IS NULL`,
  moveCursors: `UPDATE progress SET written = written + range.signups,
                  held = progress.held + range.held, written_to = range.upto
                FROM batch_range AS range
                WHERE range.batch = $1 AND progress.tab = range.tab
                RETURNING (SELECT name FROM tab WHERE tab.id = progress.tab) AS tab, written_to AS upto`,
  endMarker: 'UPDATE marker SET is_ended = true WHERE site = $1 AND batch = $2',
  setLastSettled: 'UPDATE site SET last_settled_at = $2 WHERE id = $1',
  countHour: adding(`SELECT $1, 'written', $2, '', sum(count)
              FROM (SELECT signups - held AS count FROM batch_range WHERE batch = $3
                    UNION ALL SELECT 1 FROM redelivery WHERE batch = $3 AND is_first) AS written
              HAVING sum(count) > 0`),
  addRedelivered: `INSERT INTO redelivered (position, batch)
                   SELECT position, batch FROM redelivery WHERE batch = $1`,
  countRedelivered: countWritten('true'),
  deleteRedelivery: 'DELETE FROM redelivery WHERE batch = $1',

  deleteRanges: 'DELETE FROM batch_range WHERE batch = $1',
  countErasedAgain: countWritten(isErased),
  dropErasedAgain: `DELETE FROM redelivery WHERE batch = $1 AND ${isErased}`,
  releaseAgain: 'UPDATE redelivery SET batch = NULL WHERE batch = $1',
  deleteBatch: 'DELETE FROM batch WHERE number = $1',

  setMarkerBase: 'UPDATE site SET marker_base = $2 WHERE id = $1',
  changeMarker: 'UPDATE marker SET id = $3 WHERE site = $1 AND batch = $2',
  markFound: 'UPDATE marker SET is_found = true WHERE site = $1 AND batch = $2',
}))

type Batches = Pick<
  DeliveryLog,
  'frozen' | 'frozenBatch' | 'freeze' | 'settle' | 'release' | 'remark' | 'noteFound'
>

/**
 * The batches of a site. In PostgreSQL, to freeze one takes four round trips, and to end it three. To freeze
 * neither waits for an append, nor delays one.
 *
 * @param assertDelivers throws `Overtaken` when another instance delivers now; part of each transaction
 *   that ends a batch
 */
export function batchesOf(site: Site, assertDelivers: () => Operation<void>): Batches {
  const { db, id } = site
  const transact = <T>(operation: () => Operation<T>) => db.transact([siteLock(id)], operation)
  return {
    frozen: async () => {
      const [{ rows }] = await db.query(findFrozen(id))
      return refOf(rows)
    },
    frozenBatch: () => readFrozen(site),
    freeze: (shares, markerIdMax) => transact(() => freezing(site, shares, markerIdMax)),
    settle: async (batch, at) => {
      const [, cursors] = await transact(() =>
        together(assertDelivers(), settlingBatch(site, batch, at)),
      )
      site.settled.tell(cursors)
    },
    release: async (batch) => {
      const steps = [...eraseReleased(site, batch.number), ...stepsToRelease(id, batch.number)]
      await transact(() => together(assertDelivers(), whileFrozen(id, batch, ...steps)))
    },
    remark: async (batch, markerIdMax) => {
      const base = newMarkerBase()
      const steps: Step[] = [
        [sql.setMarkerBase, id, base],
        [sql.changeMarker, id, batch.number, markerFor(base, batch.number, markerIdMax)],
      ]
      await transact(() => whileFrozen(id, batch, ...steps))
      const frozen = await readFrozen(site)
      if (frozen?.number !== batch.number) throw notFrozen(batch.number)
      return frozen
    },
    noteFound: (batch) => transact(() => whileFrozen(id, batch, [sql.markFound, id, batch.number])),
  }
}

/** Finds the frozen batch of a site: the row for `refOf`. */
export function findFrozen(site: number): Step {
  return [sql.find, site]
}

export function refOf([row]: readonly Row[]): BatchRef | undefined {
  return row && { number: Number(row['number']), marker: Number(row['marker']) }
}

async function readFrozen({ db, id, code }: Site): Promise<FrozenBatch | undefined> {
  const [found, signups, again] = await db.query(findFrozen(id), [sql.signups, id], [sql.again, id])
  const batch = refOf(found.rows)
  if (!batch) return undefined
  const fingerprint = fingerprintOf(code, batch.number, String(rowOf(found)['digest']))
  return { ...batch, fingerprint, tabs: contents(signups.rows.map(partOf), again.rows.map(partOf)) }
}

function* freezing(
  { id, code }: Site,
  shares: readonly TabShare[],
  markerIdMax: number,
): Operation<FrozenBatch> {
  const fresh = shares.filter(({ tab }) => !tab.isAgain)
  const again = shares.filter(({ tab }) => tab.isAgain)
  const ranges = givenRows(
    fresh.map(({ tab, signups }) => {
      const upto = signups.at(-1)?.position ?? 0
      const held = signups.filter(({ isHeld }) => isHeld).length
      return { tab: tab.id, after: tab.writtenTo, upto, signups: signups.length, held }
    }),
  )
  const taken = again.flatMap(({ tab, signups }) => {
    return signups.map(({ position }) => ({ tab: tab.id, position }))
  })
  const [frozen, unmoved, others, next] = yield* ask(
    findFrozen(id),
    [sql.countUnmoved, ranges],
    [sql.erasedOrHeld, ranges, givenRows(taken)],
    [sql.nextNumber, id],
  )
  if (frozen.rows.length > 0) throw new Overtaken('A batch is frozen already.')
  if (Number(rowOf(unmoved)['count']) !== fresh.length) throw endedMeanwhile()
  const positionsOf = (rows: readonly Row[]) => new Set(rows.map((row) => Number(row['position'])))
  const held = positionsOf(others.rows.filter((row) => row['rowStatus'] === rowStatus.held))
  const isReleased = (one: WaitingSignup) => one.isHeld && !held.has(one.position)
  if (fresh.some(({ signups }) => signups.some(isReleased))) throw releasedMeanwhile()
  const gone = positionsOf(others.rows.filter((row) => flagOf(row['isErased'])))
  const part = ({ tab, signups }: TabShare): Part => {
    return [tab.name, signups.filter(({ position }) => !gone.has(position))]
  }
  const tabs = contents(fresh.map(part), again.map(part))
  const number = Number(rowOf(next)['number'])
  const marker = markerFor(Number(rowOf(next)['base']), number, markerIdMax)
  const digest = digestOf(shares)
  const [, , , take] = yield* ask(
    [sql.addBatch, number, id, digest],
    [sql.addMarker, id, marker, number],
    [sql.addRanges, number, ranges],
    [sql.takeAgain, number, givenRows(taken)],
  )
  if (take.changes !== taken.length) throw endedMeanwhile()
  return { number, marker, fingerprint: fingerprintOf(code, number, digest), tabs }
}

/** Settles the frozen batch. Returns where its tabs are now. */
function* settlingBatch(site: Site, batch: number, at: Millis): Operation<readonly TabCursor[]> {
  const { id, policy } = site
  const [settled, cursors] = yield* ask(
    [sql.settle, id, batch, at, policy.spreadsheet],
    [sql.moveCursors, batch],
    ...eraseHeld(site, batch),
    [sql.endMarker, id, batch],
    [sql.setLastSettled, id, at],
    [sql.countHour, id, hourOf(at), batch],
    [sql.addRedelivered, batch],
    [sql.countRedelivered, batch],
    [sql.deleteRedelivery, batch],
  )
  // What the other statements have changed is taken back then.
  if (settled.changes === 0) throw notFrozen(batch)
  return cursors.rows.map(({ tab, upto }) => ({ tab: String(tab), upto: Number(upto) }))
}

/** Ends a frozen batch that was not written. Of its redeliveries, those that were erased are counted and dropped. */
export function stepsToRelease(site: number, batch: number): readonly Step[] {
  return [
    [sql.deleteRanges, batch],
    [sql.countErasedAgain, batch],
    [sql.dropErasedAgain, batch],
    [sql.releaseAgain, batch],
    [sql.deleteBatch, batch],
    [sql.endMarker, site, batch],
  ]
}

/** Takes these steps, in one list. @throws Overtaken when the batch is not frozen under its marker */
function* whileFrozen(site: number, batch: BatchRef, ...steps: readonly Step[]): Operation<void> {
  const [found] = yield* ask(findFrozen(site), ...steps)
  const frozen = refOf(found.rows)
  // What the steps have changed is taken back then.
  if (frozen?.number !== batch.number || frozen.marker !== batch.marker) {
    throw notFrozen(batch.number)
  }
}

function notFrozen(batch: number): Overtaken {
  return new Overtaken(`Batch ${batch} is not frozen.`)
}

const endedMeanwhile = () => new Overtaken('Another writer has ended a batch meanwhile.')
const releasedMeanwhile = () => new Overtaken('A signup was released from quarantine meanwhile.')

/** Signups of the tab with this name. */
type Part = readonly [tab: string, signups: readonly WaitingSignup[]]

function partOf(row: Row): Part {
  const name = String(row['tabName'])
  return [name, [toWaiting(row, name)]]
}

/**
 * The signups of a batch that get a row. In each tab, those that are delivered once more come first: they
 * are older.
 */
function contents(fresh: readonly Part[], again: readonly Part[]): readonly TabSignups[] {
  const parts = Map.groupBy([...again, ...fresh], ([tab]) => tab)
  const tabs = new Set([...fresh, ...again].map(([tab]) => tab))
  return Array.from(tabs, (tab) => {
    const signups = (parts.get(tab) ?? []).flatMap(([, some]) => some)
    const wanted = signups.filter(({ hasNoRow }) => !hasNoRow)
    return { tab, signups: wanted.map(({ signup }) => signup) }
  })
}

/** Differs for batches with different signups, also after a backup of the journal was restored. */
function digestOf(shares: readonly TabShare[]): string {
  const hash = createHash('sha256')
  for (const { tab, signups } of shares) {
    const ends = [signups[0]?.signup.id, signups.at(-1)?.signup.id]
    hash.update(JSON.stringify([tab.name, signups.length, ...ends]))
  }
  return hash.digest('hex').slice(0, 12)
}
