import type { Millis } from '../../signup/signup.ts'
import type { FoundSignup } from '../contracts/comparison.ts'
import type { ComparedSignup, ComparedSignups } from '../row-comparison.ts'
import { siteLock } from './locks.ts'
import { signupColumns, toSignup } from './rows.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('compared', {
  batches: `
    SELECT
      (SELECT max(number) FROM rollcall.batch) AS last,
      (SELECT number FROM rollcall.batch WHERE site = $1 AND settled_at IS NULL) AS frozen`,
  // The batch that first delivered each signup, and the last one that delivered it to the spreadsheet $1.
  page: `
    SELECT signup.position, received_at AS "receivedAt", email, is_ignored AS "isIgnored",
      tab.name AS tab, batch.number AS batch, batch.spreadsheet,
      (SELECT redelivered.batch FROM rollcall.redelivered
       WHERE redelivered.position = signup.position AND $1 = (
         SELECT again.spreadsheet FROM rollcall.batch AS again WHERE again.number = redelivered.batch)
       ORDER BY redelivered.batch DESC LIMIT 1) AS again,
      (SELECT 1 FROM rollcall.redelivery
       WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position) IS NOT NULL
        AS "isQueued"
    FROM rollcall.signup
    JOIN rollcall.tab ON tab.id = signup.tab
    LEFT JOIN rollcall.batch ON settled_at IS NOT NULL AND batch.number = (
      SELECT batch_range.batch FROM rollcall.batch_range
      WHERE batch_range.tab = signup.tab AND upto >= signup.position
      ORDER BY upto LIMIT 1)
    WHERE signup.position > $2 AND tab.site = $3
    ORDER BY signup.position LIMIT $4`,
  at: `
    SELECT ${signupColumns}, tab.name AS "sheetTab"
    FROM rollcall.signup JOIN rollcall.tab ON tab.id = signup.tab
    WHERE position = ANY($1::bigint[]) ORDER BY position`,
  deliverAgain: `
    WITH put AS (
      INSERT INTO rollcall.redelivery (tab, position, queued_at)
      SELECT tab, position, $2 FROM rollcall.signup
      WHERE position = ANY($1::bigint[]) AND is_ignored <> 1 AND email <> '' AND NOT EXISTS (
        SELECT 1 FROM rollcall.redelivered
        WHERE redelivered.position = signup.position AND batch > $3)
      ON CONFLICT DO NOTHING
      RETURNING tab, position
    ), uncounted AS (
      UPDATE rollcall.progress
      SET written = written - (SELECT count(*) FROM put WHERE put.tab = progress.tab)
      WHERE tab IN (SELECT tab FROM put)
    ), needed AS (
      UPDATE rollcall.signup SET is_ignored = 0
      WHERE position IN (SELECT position FROM put) AND is_ignored = 2
    )
    SELECT count(*) AS count FROM put`,
  noteArrived: `
    WITH dropped AS (
      DELETE FROM rollcall.redelivery
      WHERE batch IS NULL AND (tab, position) IN (
        SELECT tab, position FROM rollcall.signup WHERE position = ANY($1::bigint[]))
      RETURNING tab, position
    ), counted AS (
      UPDATE rollcall.progress
      SET written = written + (SELECT count(*) FROM dropped WHERE dropped.tab = progress.tab)
      WHERE tab IN (SELECT tab FROM dropped)
    )
    UPDATE rollcall.signup SET is_ignored = 2
    WHERE position = ANY($1::bigint[]) AND is_ignored = 0
      AND position NOT IN (SELECT position FROM dropped)`,
})

type Batches = Pick<ComparedSignups, 'lastBatch' | 'frozen'>

export class PostgresComparedSignups implements ComparedSignups {
  readonly #site: PostgresSite
  readonly lastBatch: number
  readonly frozen: number

  private constructor(site: PostgresSite, { lastBatch, frozen }: Batches) {
    this.#site = site
    this.lastBatch = lastBatch
    this.frozen = frozen
  }

  /** Notes which batches there are at this moment. */
  static async open(site: PostgresSite): Promise<PostgresComparedSignups> {
    const row = await site.db.get(sql.batches, site.id)
    return new PostgresComparedSignups(site, {
      lastBatch: Number(row?.['last'] ?? 0),
      frozen: Number(row?.['frozen'] ?? 0),
    })
  }

  get spreadsheet(): string {
    return this.#site.policy.spreadsheet
  }

  async page(after: number, max: number): Promise<readonly ComparedSignup[]> {
    const { db, id } = this.#site
    const rows = await db.all(sql.page, this.spreadsheet, after, id, max)
    return rows.map((row) => ({
      position: Number(row['position']),
      receivedAt: Number(row['receivedAt']),
      email: String(row['email']),
      tab: String(row['tab']),
      isIgnored: row['isIgnored'] === 1,
      isQueued: row['isQueued'] === true,
      batch: numberOf(row['batch']),
      batchSpreadsheet: textOf(row['spreadsheet']),
      again: numberOf(row['again']),
    }))
  }

  async at(positions: readonly number[]): Promise<readonly FoundSignup[]> {
    const rows = await this.#site.db.all(sql.at, positions)
    return rows.map((row) => ({
      position: Number(row['position']),
      signup: toSignup(row, String(row['sheetTab'])),
    }))
  }

  async deliverAgain(positions: readonly number[], at: Millis): Promise<number> {
    const { db, id } = this.#site
    const [rows] = await db.inOneGo(siteLock(id), [
      [sql.deliverAgain, positions, at, this.lastBatch],
    ])
    return Number(rows?.[0]?.['count'])
  }

  async noteArrived(positions: readonly number[]): Promise<void> {
    const { db, id } = this.#site
    await db.inOneGo(siteLock(id), [[sql.noteArrived, positions]])
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
