import { timeOfId } from '../../signup/id.ts'
import type { Millis, SignupId } from '../../signup/signup.ts'
import { beginOf, type Counts, type Figures, hourOf } from '../contracts/figures.ts'
import type { Reader, SignupRecord } from '../contracts/reader.ts'
import type { Queries } from './database.ts'
import { factNow, settingFact } from './facts.ts'
import { isBehind, signupColumns, toSignup } from './rows.ts'
import type { PostgresSite } from './site.ts'
import { type Row, statementsOf } from './statement.ts'

const sql = statementsOf('reader', {
  // A tab without progress has nothing in the spreadsheet yet.
  totals: `SELECT coalesce(sum(accepted), 0)::bigint AS accepted,
             coalesce(sum(written), 0)::bigint AS written
           FROM rollcall.tab LEFT JOIN rollcall.progress ON progress.tab = tab.id WHERE site = $1`,
  lastSettled: 'SELECT last_settled_at AS at FROM rollcall.site WHERE id = $1',
  hours: `SELECT hour, sum(accepted)::bigint AS accepted, sum(written)::bigint AS written FROM (
            SELECT hour, count AS accepted, 0 AS written FROM rollcall.hour_accepted
            WHERE site = $1 AND hour BETWEEN $2 AND $3
            UNION ALL
            SELECT hour, 0, count FROM rollcall.hour_written
            WHERE site = $1 AND hour BETWEEN $2 AND $3
          ) AS counts GROUP BY hour ORDER BY hour`,
  firstWaiting: `SELECT tab.key, first.id
                 FROM rollcall.tab LEFT JOIN rollcall.progress ON progress.tab = tab.id
                 CROSS JOIN LATERAL (
                   SELECT signup.id FROM rollcall.signup
                   WHERE ${isBehind('tab.id', 'coalesce(written_to, 0)')}
                   ORDER BY signup.tab, signup.position LIMIT 1
                 ) AS first WHERE tab.site = $1`,
  firstAgain: `SELECT tab.key, first.queued_at
               FROM rollcall.tab CROSS JOIN LATERAL (
                 SELECT queued_at FROM rollcall.redelivery WHERE redelivery.tab = tab.id
                 ORDER BY position LIMIT 1
               ) AS first WHERE tab.site = $1`,
  callsSince: `SELECT count(*) AS count FROM rollcall.provider_call WHERE account = $1 AND at > $2`,
  signupsAfter: `SELECT ${signupColumns}, tab.name AS sheet_tab
                 FROM rollcall.signup JOIN rollcall.tab ON tab.id = signup.tab
                 WHERE signup.position > $1 AND tab.site = $2 AND signup.email <> ''
                   AND NOT EXISTS (SELECT 1 FROM rollcall.removal
                                   WHERE removal.position = signup.position)
                 ORDER BY signup.position LIMIT $3`,
})

export class PostgresReader implements Reader {
  readonly #site: Pick<PostgresSite, 'db' | 'id'>

  constructor(site: Pick<PostgresSite, 'db' | 'id'>) {
    this.#site = site
  }

  async backlog(): Promise<number> {
    const { db, id } = this.#site
    const { accepted, written } = countsOf(await db.get(sql.totals, id))
    return accepted - written
  }

  waitingSince(asideTabs: readonly string[]): Promise<Millis | undefined> {
    const aside = new Set(asideTabs)
    return this.#site.db.snapshot(async (queries) => {
      const [first, lastSettled] = await Promise.all([
        this.#firstWaiting(queries),
        this.#lastSettled(queries),
      ])
      const since = first.filter(({ key }) => !aside.has(key)).map((tab) => tab.since)
      return since.length === 0 ? undefined : Math.max(lastSettled, Math.min(...since))
    })
  }

  figures(from: Millis, to: Millis): Promise<Figures> {
    const { db, id } = this.#site
    return db.snapshot(async (queries) => {
      const [totals, hours, first, lastSettled] = await Promise.all([
        queries.get(sql.totals, id),
        queries.all(sql.hours, id, hourOf(from), hourOf(to)),
        this.#firstWaiting(queries),
        this.#lastSettled(queries),
      ])
      const waiting = first.map(({ since }) => since)
      return {
        all: countsOf(totals),
        hours: hours.map((row) => ({ from: beginOf(Number(row['hour'])), ...countsOf(row) })),
        oldestWaiting: waiting.length === 0 ? undefined : Math.min(...waiting),
        lastWritten: lastSettled || undefined,
      }
    })
  }

  async callsSince(account: string, after: Millis): Promise<number> {
    const row = await this.#site.db.get(sql.callsSince, account, after)
    return Number(row?.['count'])
  }

  fact(name: string): Promise<string | undefined> {
    return factNow(this.#site.db, this.#site.id, name)
  }

  async page(after: number, max: number): Promise<readonly SignupRecord[]> {
    const rows = await this.#site.db.all(sql.signupsAfter, after, this.#site.id, max)
    return rows.map((row) => ({
      position: Number(row['position']),
      signup: toSignup(row, String(row['sheet_tab'])),
    }))
  }

  async probe(): Promise<void> {
    const { db, id } = this.#site
    await db.all(...settingFact(id, 'probed', crypto.randomUUID()))
  }

  /** The first waiting signup of each tab, and the first one that is to be delivered once more. */
  async #firstWaiting(queries: Queries) {
    const [first, again] = await Promise.all([
      queries.all(sql.firstWaiting, this.#site.id),
      queries.all(sql.firstAgain, this.#site.id),
    ])
    return [
      // An imported signup may have an old timestamp, but its id has the time when it came.
      ...first.map(({ key, id }) => ({
        key: String(key),
        since: timeOfId(String(id) as SignupId),
      })),
      ...again.map((row) => ({ key: String(row['key']), since: Number(row['queued_at']) })),
    ]
  }

  async #lastSettled(queries: Queries): Promise<Millis> {
    return Number((await queries.get(sql.lastSettled, this.#site.id))?.['at'] ?? 0)
  }
}

function countsOf(row: Row | undefined): Counts {
  return { accepted: Number(row?.['accepted']), written: Number(row?.['written']) }
}
