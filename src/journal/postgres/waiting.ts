import type { PendingTab, WaitingSlice } from '../contracts/delivery-log.ts'
import { isBehind, joinSignupAt, toWaiting, waitingColumns } from './rows.ts'
import type { PostgresSite } from './site.ts'
import { type Statement, statementsOf } from './statement.ts'

/** At most how many signups of a tab are read at once. That takes 3 ms of this process. */
const sliceMax = 2000

const sql = statementsOf('waiting', {
  pending: `SELECT asked.no, tab.id, tab.name, coalesce(written_to, 0) AS "writtenTo",
              false AS "isAgain", first.position AS oldest
            FROM unnest($1::integer[]) WITH ORDINALITY AS asked (site, no)
            JOIN rollcall.tab USING (site) LEFT JOIN rollcall.progress ON progress.tab = tab.id
            CROSS JOIN LATERAL (
              SELECT position FROM rollcall.signup
              WHERE ${isBehind('tab.id', 'coalesce(written_to, 0)')}
              ORDER BY signup.tab, signup.position LIMIT 1
            ) AS first
            UNION ALL
            SELECT asked.no, tab.id, tab.name, 0, true, first.position
            FROM unnest($1::integer[]) WITH ORDINALITY AS asked (site, no)
            JOIN rollcall.tab USING (site) CROSS JOIN LATERAL (
              SELECT position FROM rollcall.redelivery
              WHERE redelivery.tab = tab.id AND batch IS NULL
              ORDER BY position LIMIT 1
            ) AS first
            ORDER BY "isAgain", oldest`,
  ofTabs: `SELECT share.no, ${waitingColumns}
           FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY AS share (tab, after, no)
           CROSS JOIN LATERAL (
             SELECT * FROM rollcall.signup WHERE ${isBehind('share.tab', 'share.after')}
             ORDER BY signup.tab, signup.position LIMIT $3
           ) AS signup ORDER BY share.no, signup.position`,
  again: `SELECT share.no, ${waitingColumns}
          FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY AS share (tab, after, no)
          CROSS JOIN LATERAL (
            SELECT position FROM rollcall.redelivery
            WHERE redelivery.tab = share.tab AND redelivery.position > share.after
              AND batch IS NULL
            ORDER BY redelivery.position LIMIT $3
          ) AS queued ${joinSignupAt('queued.position')}
          ORDER BY share.no, signup.position`,
})

type Site = Pick<PostgresSite, 'db' | 'id'>

export async function pendingTabs({ db, id: site }: Site): Promise<readonly PendingTab[]> {
  return (await db.together(sql.pending, site)).map(({ id, name, writtenTo, isAgain }) => ({
    id: Number(id),
    name: String(name),
    writtenTo: Number(writtenTo),
    isAgain: isAgain === true,
  }))
}

interface Asked {
  readonly tab: PendingTab
  readonly after: number
  readonly max: number
  readonly answer: (slice: WaitingSlice) => void
  readonly fail: (error: unknown) => void
}

/** Reads waiting signups. What is asked for in one turn of the event loop shares a round trip. */
export class WaitingSignups {
  readonly #site: Site
  #asked: Asked[] = []

  constructor(site: Site) {
    this.#site = site
  }

  /** The first signups of a tab after this position; no more than are wanted. */
  read(tab: PendingTab, after: number, wanted: number): Promise<WaitingSlice> {
    return new Promise((answer, fail) => {
      if (this.#asked.length === 0) setImmediate(() => this.#readAll())
      this.#asked.push({ tab, after, max: Math.min(wanted, sliceMax), answer, fail })
    })
  }

  #readAll(): void {
    const asked = this.#asked
    this.#asked = []
    for (const isAgain of [false, true]) {
      const together = asked.filter(({ tab }) => tab.isAgain === isAgain)
      if (together.length === 0) continue
      this.#readTogether(isAgain ? sql.again : sql.ofTabs, together).catch((error: unknown) => {
        for (const { fail } of together) fail(error)
      })
    }
  }

  async #readTogether(statement: Statement, asked: readonly Asked[]): Promise<void> {
    const rows = await this.#site.db.all(
      statement,
      asked.map(({ tab }) => tab.id),
      asked.map(({ after }) => after),
      Math.max(...asked.map(({ max }) => max)),
    )
    const rowsOf = Map.groupBy(rows, ({ no }) => Number(no))
    for (const [index, { tab, max, answer }] of asked.entries()) {
      const own = (rowsOf.get(index + 1) ?? []).slice(0, max)
      const signups = own.map((row) => toWaiting(row, tab.name))
      answer({ signups, hasMore: own.length === max })
    }
  }
}
