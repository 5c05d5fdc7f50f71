import { isBetween, joinSignupAt, waitingColumns } from './rows.ts'
import { statementsOf } from './statement.ts'

/** Whether the signup of a redelivery is erased. */
const isErased = `(SELECT email FROM rollcall.signup
                   WHERE signup.position = redelivery.position) = ''`

/** The statements about batches. */
export const batchSql = statementsOf('batches', {
  frozen: `SELECT number, digest, marker.id AS marker
           FROM rollcall.batch
           JOIN rollcall.marker ON marker.site = batch.site AND marker.batch = batch.number
           WHERE batch.site = $1 AND settled_at IS NULL`,
  signups: `SELECT tab.name AS "tabName", ${waitingColumns}
            FROM rollcall.batch_range
            JOIN rollcall.signup ON ${isBetween('batch_range.tab', 'after', 'upto')}
            JOIN rollcall.tab ON tab.id = batch_range.tab
            WHERE batch = $1 ORDER BY signup.tab, signup.position`,
  again: `SELECT tab.name AS "tabName", ${waitingColumns}
          FROM rollcall.redelivery
          ${joinSignupAt('redelivery.position')}
          JOIN rollcall.tab ON tab.id = redelivery.tab
          WHERE batch = $1 ORDER BY redelivery.tab, signup.position`,
  cursors: `SELECT tab.name, upto FROM rollcall.batch_range
            JOIN rollcall.tab ON tab.id = batch_range.tab WHERE batch = $1`,

  // Shares whose last signup is in their tab, and whose tab is still delivered as far as when they were read.
  countUnmoved: `SELECT count(*) AS count
                 FROM unnest($1::integer[], $2::bigint[], $3::bigint[])
                   AS share (tab, written_to, upto)
                 ${joinSignupAt('share.upto')}
                 LEFT JOIN rollcall.progress ON progress.tab = share.tab
                 WHERE signup.tab = share.tab AND coalesce(progress.written_to, 0) = share.written_to`,
  erasedBetween: `SELECT signup.position
                  FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS share (tab, after, upto)
                  JOIN rollcall.signup ON ${isBetween('share.tab', 'share.after', 'share.upto')}
                  WHERE email = ''`,
  erasedAmong: `SELECT position FROM rollcall.signup
                WHERE position = ANY($1::bigint[]) AND email = ''`,
  nextNumber: `UPDATE rollcall.counter SET value = value + 1 WHERE name = 'batch'
               RETURNING value AS number,
                 (SELECT marker_base FROM rollcall.site WHERE id = $1) AS base`,
  addBatch: 'INSERT INTO rollcall.batch (number, site, digest) VALUES ($1, $2, $3)',
  addMarker: 'INSERT INTO rollcall.marker (site, id, batch) VALUES ($1, $2, $3)',
  addRanges: `INSERT INTO rollcall.batch_range (batch, tab, after, upto, signups)
              SELECT $1, tab, after, upto, signups
              FROM unnest($2::integer[], $3::bigint[], $4::bigint[], $5::integer[])
                AS share (tab, after, upto, signups)`,
  holdAgain: `UPDATE rollcall.redelivery SET batch = $1
              FROM unnest($2::integer[], $3::bigint[], $4::bigint[]) AS share (tab, first, upto)
              WHERE (redelivery.tab, position) >= (share.tab, share.first)
                AND (redelivery.tab, position) <= (share.tab, share.upto) AND batch IS NULL`,

  settle: `UPDATE rollcall.batch SET settled_at = $3, spreadsheet = $4
           WHERE number = $2 AND site = $1 AND settled_at IS NULL`,
  moveCursors: `INSERT INTO rollcall.progress AS known (tab, written, written_to)
                SELECT tab, signups, upto FROM rollcall.batch_range WHERE batch = $1
                ON CONFLICT (tab) DO UPDATE
                SET written = known.written + excluded.written, written_to = excluded.written_to`,
  endMarker: 'UPDATE rollcall.marker SET is_ended = true WHERE site = $1 AND batch = $2',
  setLastSettled: 'UPDATE rollcall.site SET last_settled_at = $2 WHERE id = $1',
  countHour: `INSERT INTO rollcall.hour_written AS known (site, hour, count)
              SELECT $1, $2, sum(signups) FROM rollcall.batch_range WHERE batch = $3
              HAVING count(*) > 0
              ON CONFLICT (site, hour) DO UPDATE SET count = known.count + excluded.count`,
  addRedelivered: `INSERT INTO rollcall.redelivered (position, batch)
                   SELECT position, batch FROM rollcall.redelivery WHERE batch = $1`,
  countRedelivered: `UPDATE rollcall.progress SET written = written + again.count
                     FROM (SELECT tab, count(*) AS count FROM rollcall.redelivery
                           WHERE batch = $1 GROUP BY tab) AS again
                     WHERE progress.tab = again.tab`,
  deleteRedelivery: 'DELETE FROM rollcall.redelivery WHERE batch = $1',

  deleteRanges: 'DELETE FROM rollcall.batch_range WHERE batch = $1',
  // Before it, what was erased is counted and dropped.
  countErasedAgain: `UPDATE rollcall.progress SET written = written + again.count
                     FROM (SELECT redelivery.tab, count(*) AS count FROM rollcall.redelivery
                           WHERE batch = $1 AND ${isErased} GROUP BY redelivery.tab) AS again
                     WHERE progress.tab = again.tab`,
  dropErasedAgain: `DELETE FROM rollcall.redelivery WHERE batch = $1 AND ${isErased}`,
  releaseAgain: 'UPDATE rollcall.redelivery SET batch = NULL WHERE batch = $1',
  deleteBatch: 'DELETE FROM rollcall.batch WHERE number = $1',

  setMarkerBase: 'UPDATE rollcall.site SET marker_base = $2 WHERE id = $1',
  changeMarker: 'UPDATE rollcall.marker SET id = $3 WHERE site = $1 AND batch = $2',
  markFound: 'UPDATE rollcall.marker SET is_found = true WHERE site = $1 AND batch = $2',
})
