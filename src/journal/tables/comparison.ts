import type { ComparedSignups, KnownRow } from '../contracts/comparison.ts'
import {
  flagOf,
  givenPositions,
  headLock,
  numberOf,
  type Row,
  rowReader,
  siteLock,
  statementsOf,
  rowOf,
} from '../sql.ts'
import { rowStatus } from './layout.ts'
import { overflowKeyOf } from '../../signup/closing.ts'
import { tabKey } from '../../signup/signup.ts'
import { stepsToNoteLost } from './seats.ts'
import { recordColumns, rowsBehind, toRecord } from './rows.ts'
import type { Site } from './site.ts'

const { wanted, none, present, held } = rowStatus

const sql = statementsOf('compared', ({ given, signupAt }) => {
  const signups = `${given('given', '$1', { position: 'number' })} ${signupAt('given.position')}`
  // Those that are put back: they are not queued yet, and no batch after $2 has delivered them once more.
  const put = `${signups}
    WHERE signup.row_status NOT IN (${none}, ${held}) AND signup.email <> '' AND NOT EXISTS (
        SELECT 1 FROM redelivered
        WHERE redelivered.position = signup.position AND redelivered.batch > $2)
      AND NOT EXISTS (
        SELECT 1 FROM redelivery
        WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position)`
  // Those that wait to be put into a batch once more.
  const queued = `${signups} JOIN redelivery
    ON redelivery.tab = signup.tab AND redelivery.position = signup.position AND batch IS NULL`
  return {
    // A site has one frozen batch at most, and its later batches have higher numbers.
    lastSettled: `
      SELECT coalesce(
        (SELECT number - 1 FROM batch WHERE site = $1 AND settled_at IS NULL),
        (SELECT value FROM counter WHERE name = 'batch')) AS number`,
    // The last batch that delivered each signup to the spreadsheet $1: once more, or else as the first one.
    // One whose spreadsheet is not known counts as of this one. CROSS JOIN keeps the order of the tables, so
    // SQLite reads by position and not by tab. For EXISTS, PostgreSQL may read all of redelivery.
    page: `
      SELECT signup.position, received_at AS "receivedAt", email, row_status AS "rowStatus",
        tab.name AS tab,
        coalesce(
          (SELECT redelivered.batch FROM redelivered
           WHERE redelivered.position = signup.position AND $1 = (
             SELECT again.spreadsheet FROM batch AS again WHERE again.number = redelivered.batch)
           ORDER BY redelivered.batch DESC LIMIT 1),
          CASE WHEN coalesce(batch.spreadsheet, $1) = $1 THEN batch.number END) AS batch,
        batch.number IS NULL OR (
          SELECT 1 FROM redelivery
          WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position
        ) IS NOT NULL AS waits
      FROM signup CROSS JOIN tab
      LEFT JOIN batch ON settled_at IS NOT NULL AND batch.number = (
        SELECT batch_range.batch FROM batch_range
        WHERE batch_range.tab = signup.tab AND upto >= signup.position
        ORDER BY upto LIMIT 1)
      WHERE signup.position > $3 AND signup.position <= $4 AND tab.id = signup.tab AND tab.site = $2
        AND row_status <> ${held}
      ORDER BY signup.position LIMIT $5`,
    at: `SELECT ${recordColumns} FROM ${signups} JOIN tab ON tab.id = signup.tab
         ORDER BY signup.position`,
    uncount: `
      UPDATE progress SET written = written - put.count
      FROM (SELECT signup.tab, count(*) AS count FROM ${put} GROUP BY signup.tab) AS put
      WHERE progress.tab = put.tab`,
    need: `
      UPDATE signup SET row_status = ${wanted}
      WHERE row_status = ${present} AND position IN (SELECT signup.position FROM ${put})`,
    // The last of the three, because nothing is put back after it.
    queue: `
      INSERT INTO redelivery (tab, position, queued_at)
      SELECT signup.tab, signup.position, $3 FROM ${put}`,
    noteArrived: `
      UPDATE signup SET row_status = ${present}
      WHERE row_status = ${wanted}
        AND position IN (SELECT signup.position FROM ${signups})
        AND position NOT IN (SELECT signup.position FROM ${queued})`,
    count: `
      UPDATE progress SET written = written + dropped.count
      FROM (SELECT signup.tab, count(*) AS count FROM ${queued} GROUP BY signup.tab) AS dropped
      WHERE progress.tab = dropped.tab`,
    drop: `
      DELETE FROM redelivery
      WHERE batch IS NULL AND (tab, position) IN (SELECT signup.tab, signup.position FROM ${signups})`,
  }
})

const toCompared = rowReader({ position: Number, receivedAt: Number, email: String, tab: String })

/** The signups of one site, with what is known of the row of each. */
export function comparedOf({ db, id, policy }: Site): ComparedSignups {
  const lock = [siteLock(id)]
  return {
    lastSettled: async () => {
      const [last] = await db.query([sql.lastSettled, id])
      return Number(rowOf(last)['number'])
    },
    page: async (after, max, lastSettled) => {
      const rows = await rowsBehind(db, after, max, (...part) => {
        return [sql.page, policy.spreadsheet, id, ...part]
      })
      return rows.map((row) => ({ ...toCompared(row), row: knownRow(row, lastSettled) }))
    },
    at: async (positions) => {
      const [{ rows }] = await db.query([sql.at, givenPositions(positions)])
      return rows.map(toRecord)
    },
    deliverAgain: async (positions, at, lastSettled) => {
      const put = [givenPositions(positions), lastSettled] as const
      const [, , { changes }] = await db.change(
        lock,
        [sql.uncount, ...put],
        [sql.need, ...put],
        [sql.queue, ...put, at],
      )
      return changes
    },
    noteArrived: async (positions) => {
      const given = givenPositions(positions)
      await db.change(lock, [sql.noteArrived, given], [sql.count, given], [sql.drop, given])
    },
    noteLost: async (rows) => {
      const overflowKey = overflowKeyOf(policy.closing)
      const seated = [...rows].filter(([tab]) => tabKey(tab) !== overflowKey)
      const count = seated.reduce((sum, [, ofTab]) => sum + ofTab, 0)
      await db.change([headLock], ...stepsToNoteLost(id, count))
    },
  }
}

function knownRow(row: Row, lastSettled: number): KnownRow {
  const batch = numberOf(row['batch'])
  if (row['rowStatus'] === none) return 'none'
  if (row['email'] === '') return 'unknown'
  if (flagOf(row['waits'])) return 'waiting'
  if (batch === undefined) return 'elsewhere'
  return batch > lastSettled ? 'waiting' : 'written'
}
