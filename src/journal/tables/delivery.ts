import type { DeliveryLog, RunningTime, RunningTimeNote } from '../contracts/delivery-log.ts'
import {
  ask,
  flagOf,
  givenRows,
  numberOf,
  type Operation,
  reading,
  rowReader,
  siteLock,
  statementsOf,
  rowOf,
} from '../sql.ts'
import { batchesOf } from './batches.ts'
import { readFact, setFact } from './facts.ts'
import { toWaiting, waitingColumns } from './rows.ts'
import { codesOfSite, isOfCodes, type Site } from './site.ts'

const sql = statementsOf('delivery', ({ given, behind, signupAt, ofEach }) => {
  const asked = given('asked', '$1', { site: 'integer', no: 'integer' })
  // What is read of each tab that is asked for.
  const share = {
    each: given('share', '$1', { no: 'integer', tab: 'integer', after: 'number', most: 'integer' }),
    no: 'share.no',
    columns: waitingColumns,
    limit: 'share.most',
  }
  return {
    // Without `asked` in the inner parts, PostgreSQL may run them for the tabs of all sites, and join later.
    pending: `
      SELECT asked.no, tab.id, tab.name, written_to AS "writtenTo", false AS "isAgain",
        signup.position AS oldest
      FROM ${asked} JOIN tab ON tab.site = asked.site JOIN progress ON progress.tab = tab.id
      ${signupAt(`(SELECT signup.position FROM signup WHERE ${behind('tab.id', 'written_to')}
                   AND tab.site = asked.site ORDER BY signup.tab, signup.position LIMIT 1)`)}
      UNION ALL
      SELECT asked.no, tab.id, tab.name, 0, true, signup.position
      FROM ${asked} JOIN tab ON tab.site = asked.site
      ${signupAt(`(SELECT redelivery.position FROM redelivery
                   WHERE redelivery.tab = tab.id AND batch IS NULL AND tab.site = asked.site
                   ORDER BY redelivery.position LIMIT 1)`)}
      ORDER BY "isAgain", oldest`,
    waiting: ofEach({
      ...share,
      from: `signup WHERE ${behind('share.tab', 'share.after')}`,
      order: 'signup.tab, signup.position',
    }),
    waitingAgain: ofEach({
      ...share,
      from: `redelivery ${signupAt('redelivery.position')}
        WHERE redelivery.tab = share.tab AND redelivery.position > share.after AND batch IS NULL`,
      order: 'redelivery.position',
    }),
    endedMarkers: `SELECT id, is_found AS "isFound", prunable_at AS "prunableAt" FROM marker
                   WHERE site = $1 AND is_ended ORDER BY batch`,
    countMarkers: 'SELECT count(*) AS count FROM marker WHERE site = $1',
    knownMarkers: `SELECT marker.id FROM ${given('wanted', '$2', { id: 'number' })}
                   JOIN marker ON marker.site = $1 AND marker.id = wanted.id`,
    // A batch of this journal has a positive number.
    adoptMarkers: `INSERT INTO marker (site, id, batch, is_found, is_ended)
                   SELECT $1, id, -id, true, true FROM ${given('stray', '$2', { id: 'number' })}
                   WHERE true ON CONFLICT (site, id) DO NOTHING`,
    forgetMarkers: `DELETE FROM marker WHERE site = $1
                    AND id IN (SELECT gone.id FROM ${given('gone', '$2', { id: 'number' })})`,
    runningTime: 'SELECT running_ms AS ms, running_by AS by FROM site WHERE id = $1',
    setRunningTime: 'UPDATE site SET running_ms = $2, running_by = $3 WHERE id = $1',
    // The first time that a marker is kept stays.
    keepMarkers: `UPDATE marker SET prunable_at = kept."prunableAt"
                  FROM ${given('kept', '$2', { id: 'number', prunableAt: 'number' })}
                  WHERE site = $1 AND marker.id = kept.id AND is_ended AND prunable_at IS NULL`,
  }
})

const toPendingTab = rowReader({ id: Number, name: String, writtenTo: Number, isAgain: flagOf })
const toEndedMarker = rowReader({ id: Number, isFound: flagOf, prunableAt: numberOf })

/** What an engine does in its own way. */
export interface DeliveryEngine {
  /** At most how many waiting signups of a tab are read at once. */
  readonly waitingMax: number
  /** Throws `Overtaken` when another instance delivers now. Part of each transaction that ends a batch. */
  readonly assertDelivers: () => Operation<void>
}

/** How one site delivers: what waits, its batches, and the markers of those that have ended. */
export function deliveryOf(
  site: Site,
  { waitingMax, assertDelivers }: DeliveryEngine,
): DeliveryLog {
  const { db, id } = site
  const lock = [siteLock(id)]
  const codes = () => reading(db, codesOfSite(site))
  return {
    onAppend: (listener) => site.appended.add(listener),
    pending: async () => {
      const rows = await db.queryTogether(sql.pending, { site: id })
      return rows.map(toPendingTab)
    },
    waiting: async (tab, after = tab.writtenTo, wanted = waitingMax) => {
      // Let waiting requests run before each slice but the first.
      if (after !== tab.writtenTo) await new Promise((resolve) => setImmediate(resolve))
      const most = Math.min(wanted, waitingMax)
      const statement = tab.isAgain ? sql.waitingAgain : sql.waiting
      const rows = await db.queryTogether(statement, { tab: tab.id, after, most })
      const signups = rows.map((row) => toWaiting(row, tab.name))
      return { signups, hasMore: signups.length === most }
    },
    ...batchesOf(site, assertDelivers),
    endedMarkers: async () => {
      const [{ rows }] = await db.query([sql.endedMarkers, id])
      return rows.map(toEndedMarker)
    },
    noteRunningTime: (note) => db.transact(lock, () => notingTime(id, note)),
    markerCount: async () => {
      const [markers] = await db.query([sql.countMarkers, id])
      return Number(rowOf(markers)['count'])
    },
    isOwn: async (fingerprint) => isOfCodes(await codes(), fingerprint),
    adoptMarkers: async (standing) => {
      const known = await codes()
      const own = standing.filter(({ fingerprint }) => isOfCodes(known, fingerprint))
      const markers = new Set(own.map(({ marker }) => marker))
      const [{ rows }] = await db.query([sql.knownMarkers, id, givenMarkers(markers)])
      if (rows.length === markers.size) return
      await db.change(lock, [sql.adoptMarkers, id, givenMarkers(markers)])
    },
    forgetMarkers: async (markers) => {
      await db.change(lock, [sql.forgetMarkers, id, givenMarkers(markers)])
    },
    fact: (name) => readFact(site, name),
    noteFact: async (name, value) => {
      await db.change(lock, setFact(id, name, value))
    },
  }
}

function* notingTime(
  site: number,
  { by, ms, seen, keepMs }: RunningTimeNote,
): Operation<RunningTime> {
  const [{ rows }] = yield* ask([sql.runningTime, site])
  const last = { ms: Number(rows[0]?.['ms']), by: String(rows[0]?.['by']) }
  const isAsSeen = seen?.by === last.by && seen.ms === last.ms
  if (seen && !isAsSeen && keepMs.size === 0) return last
  const next = { ms: last.ms + (isAsSeen && last.by === by ? ms : 0), by }
  const kept = Array.from(keepMs, ([id, time]) => ({ id, prunableAt: next.ms + time }))
  yield* ask([sql.setRunningTime, site, next.ms, by], [sql.keepMarkers, site, givenRows(kept)])
  return next
}

function givenMarkers(markers: Iterable<number>): string {
  return givenRows(Array.from(markers, (id) => ({ id })))
}
