import type { PendingTab, WaitingSlice } from '../delivery-log.ts'
import { isBehind, joinSignupAt, toWaiting, waitingColumns } from './rows.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

/** At most how many signups of a tab are read at once. That takes 3 ms of this process. */
const sliceMax = 2000

const sql = statementsOf('waiting', {
  pending: `SELECT tab.id, tab.name, coalesce(written_to, 0) AS "writtenTo", false AS "isAgain",
              first.position AS oldest
            FROM rollcall.tab LEFT JOIN rollcall.progress ON progress.tab = tab.id
            CROSS JOIN LATERAL (
              SELECT position FROM rollcall.signup
              WHERE ${isBehind('tab.id', 'coalesce(written_to, 0)')}
              ORDER BY signup.tab, signup.position LIMIT 1
            ) AS first WHERE tab.site = $1
            UNION ALL
            SELECT tab.id, tab.name, 0, true, first.position
            FROM rollcall.tab CROSS JOIN LATERAL (
              SELECT position FROM rollcall.redelivery
              WHERE redelivery.tab = tab.id AND batch IS NULL
              ORDER BY position LIMIT 1
            ) AS first WHERE tab.site = $1
            ORDER BY "isAgain", oldest`,
  ofTab: `SELECT ${waitingColumns} FROM rollcall.signup
          WHERE ${isBehind('$1', '$2')} ORDER BY signup.tab, signup.position LIMIT $3`,
  again: `SELECT ${waitingColumns} FROM rollcall.redelivery
          ${joinSignupAt('redelivery.position')}
          WHERE redelivery.tab = $1 AND redelivery.position > $2 AND batch IS NULL
          ORDER BY redelivery.position LIMIT $3`,
})

type Site = Pick<PostgresSite, 'db' | 'id'>

export async function pendingTabs({ db, id: site }: Site): Promise<readonly PendingTab[]> {
  return (await db.all(sql.pending, site)).map(({ id, name, writtenTo, isAgain }) => ({
    id: Number(id),
    name: String(name),
    writtenTo: Number(writtenTo),
    isAgain: isAgain === true,
  }))
}

/** The first signups of a tab after this position; no more than are wanted. */
export async function waitingSlice(
  { db }: Site,
  tab: PendingTab,
  after: number,
  wanted: number,
): Promise<WaitingSlice> {
  const max = Math.min(wanted, sliceMax)
  const rows = await db.all(tab.isAgain ? sql.again : sql.ofTab, tab.id, after, max)
  return {
    signups: rows.map((row) => toWaiting(row, tab.name)),
    hasMore: rows.length === max,
  }
}
