import type { DeliveryLog } from '../contracts/delivery-log.ts'
import { type Database, statementsOf } from '../sql.ts'
import { toWaiting, waitingColumns } from './rows.ts'

const sql = statementsOf('waiting', ({ given, behind, signupAt, ofEach }) => {
  const share = {
    each: given('share', '$1', { no: 'integer', tab: 'integer', after: 'number', most: 'integer' }),
    columns: `share.no, ${waitingColumns}`,
    limit: 'share.most',
  }
  return {
    ofTab: ofEach({
      ...share,
      from: `signup WHERE ${behind('share.tab', 'share.after')}`,
      order: 'signup.tab, signup.position',
    }),
    again: ofEach({
      ...share,
      from: `redelivery ${signupAt('redelivery.position')}
        WHERE redelivery.tab = share.tab AND redelivery.position > share.after AND batch IS NULL`,
      order: 'redelivery.position',
    }),
  }
})

/** Reads waiting signups, at most `sliceMax` of a tab at once. */
export function waitingIn(db: Database, sliceMax: number): DeliveryLog['waiting'] {
  return async (tab, after = tab.writtenTo, wanted = sliceMax) => {
    // Let waiting requests run before each slice but the first.
    if (after !== tab.writtenTo) await new Promise((resolve) => setImmediate(resolve))
    const most = Math.min(wanted, sliceMax)
    const statement = tab.isAgain ? sql.again : sql.ofTab
    const rows = await db.queryTogether(statement, { tab: tab.id, after, most })
    const signups = rows.map((row) => toWaiting(row, tab.name))
    return { signups, hasMore: signups.length === most }
  }
}
