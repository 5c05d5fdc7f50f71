import type { Millis } from '../../signup/signup.ts'
import { addressHash } from '../hashes.ts'
import { expiredFact, type Retention } from '../contracts/retention.ts'
import { eraseForgotten, erasedCells, forgottenAmong } from './erase.ts'
import { siteLock } from './locks.ts'
import { isBetween, joinSignupAt } from './rows.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

/**
 * Whether the batch $1 was the last one of the signup, and nothing waits for it. With NOT EXISTS, the
 * planner may join these tables with all signups, before it looks at the batch.
 */
const isExpirable = `
  (SELECT 1 FROM rollcall.redelivery
   WHERE redelivery.tab = signup.tab AND redelivery.position = signup.position) IS NULL
  AND (SELECT 1 FROM rollcall.redelivered AS later
       WHERE later.position = signup.position AND later.batch > $1 LIMIT 1) IS NULL`

const sql = statementsOf('retention', {
  unexpired: `
    SELECT number, settled_at AS "settledAt" FROM rollcall.batch
    WHERE site = $1 AND settled_at < $2 AND NOT is_expired
    ORDER BY settled_at, number LIMIT 1`,
  expirable: `
    SELECT signup.position, signup.tab, signup.email
    FROM rollcall.batch_range CROSS JOIN LATERAL (
      SELECT position, tab, email FROM rollcall.signup
      WHERE ${isBetween('batch_range.tab', 'after', 'upto')} AND email <> '' AND ${isExpirable}
      ORDER BY tab, position LIMIT 100
    ) AS signup
    WHERE batch_range.batch = $1
    UNION ALL
    SELECT signup.position, signup.tab, email
    FROM rollcall.redelivered ${joinSignupAt('redelivered.position')}
    WHERE redelivered.batch = $1 AND email <> '' AND ${isExpirable}
    LIMIT 100`,
  // Another process may have put a signup back into the pending work since it was found.
  expire: `
    WITH expired AS (
      UPDATE rollcall.signup SET ${erasedCells}
      WHERE position = ANY($2::bigint[]) AND email <> '' AND ${isExpirable}
      RETURNING position)
    INSERT INTO rollcall.kept_address (tab, hash)
    SELECT DISTINCT found.tab, found.hash
    FROM unnest($2::bigint[], $3::integer[], $4::text[]) AS found (position, tab, hash)
    JOIN expired ON expired.position = found.position
    WHERE found.hash IS NOT NULL ON CONFLICT DO NOTHING`,
  endBatch: 'UPDATE rollcall.batch SET is_expired = true WHERE number = $1',
  setFact: `
    INSERT INTO rollcall.fact (site, name, value) VALUES ($1, $2, $3)
    ON CONFLICT (site, name) DO UPDATE SET value = excluded.value`,
})

export class PostgresRetention implements Retention {
  readonly #site: PostgresSite

  constructor(site: PostgresSite) {
    this.#site = site
  }

  async expire(writtenBefore: Millis): Promise<boolean> {
    const { db, id, policy, secret } = this.#site
    const batch = await db.get(sql.unexpired, id, Math.min(writtenBefore, Number.MAX_SAFE_INTEGER))
    if (!batch) return false
    const number = Number(batch['number'])
    const found = await db.all(sql.expirable, number)
    if (found.length === 0) {
      await db.inOneGo(siteLock(id), [
        [sql.endBatch, number],
        [sql.setFact, id, expiredFact, String(batch['settledAt'])],
      ])
      return true
    }
    const signups = found.map((row) => ({
      position: Number(row['position']),
      tab: Number(row['tab']),
      email: String(row['email']),
    }))
    const keepsHashes = policy.duplicates === 'ignore'
    await db.transaction(siteLock(id), async (transaction) => {
      const forgotten = new Set(await forgottenAmong(transaction, this.#site, signups))
      if (forgotten.size > 0) await eraseForgotten(transaction, id, [...forgotten])
      const expired = signups.filter((signup) => !forgotten.has(signup))
      await transaction.run(
        sql.expire,
        number,
        expired.map(({ position }) => position),
        expired.map(({ tab }) => tab),
        expired.map(({ email }) => (keepsHashes ? addressHash(secret, email) : null)),
      )
    })
    return true
  }
}
