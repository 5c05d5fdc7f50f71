import type { Millis } from '../../signup/signup.ts'
import type { Lease } from '../contracts/lease.ts'
import { Overtaken } from '../contracts/errors.ts'
import { ask, type Operation, statementsOf } from '../sql.ts'
import type { PostgresDatabase } from './database.ts'

/** How long the lease stands in the database after it was taken or renewed. */
const lifeMs: Millis = 6000
/** The holder stops so long before the end, so that it has stopped when another instance takes over. */
const marginMs: Millis = 1000

const newEnd = `clock_timestamp() + ${lifeMs} * interval '1 millisecond'`

const sql = statementsOf('postgres lease', ({ given }) => ({
  // Each statement is a transaction of its own, and may run twice. The values after SET and WHERE are of
  // the moment at which the row is locked. All instances lock the rows in the same order.
  hold: `WITH asked AS (
           SELECT * FROM ${given('asked', '$1', { no: 'integer', site: 'integer', holder: 'text' })}
         ), held AS (
           INSERT INTO lease (site, holder, term, expires_at)
           SELECT site, holder, 1, ${newEnd}
           FROM (SELECT DISTINCT site, holder FROM asked) AS instance ORDER BY site
           ON CONFLICT (site) DO UPDATE
           SET holder = excluded.holder,
               term = CASE WHEN lease.holder = excluded.holder THEN lease.term ELSE lease.term + 1 END,
               expires_at = ${newEnd}
           WHERE lease.holder = excluded.holder OR lease.expires_at <= clock_timestamp()
           RETURNING lease.site, lease.term
         ) SELECT no, term FROM held JOIN asked USING (site)`,
  // The clock of the database was set back. The holder still has time to renew the lease.
  shorten: `UPDATE lease SET expires_at = ${newEnd}
            WHERE site IN (SELECT site FROM ${given('asked', '$1', { site: 'integer' })})
              AND expires_at > ${newEnd}`,
  release: `UPDATE lease SET holder = '', expires_at = clock_timestamp()
            WHERE site = $1 AND holder = $2`,
  held: 'SELECT term FROM lease WHERE site = $1 AND holder = $2',
}))

export interface LeaseOptions {
  readonly site: number
  /** Random, of this instance. */
  readonly holder: string
}

/**
 * The lease of a site, by the clock of the database. An instance holds those of all its sites together.
 * `assertDelivers` throws `Overtaken` if this instance has held the lease, and does not hold it any more. It
 * belongs into every transaction that ends a batch, after the lock of the site.
 *
 * @param db has `leaseLimits`
 */
export function leaseOf(db: PostgresDatabase, { site, holder }: LeaseOptions) {
  /** The last term of this instance; undefined until it holds the lease for the first time. */
  let term: number | undefined
  const lease: Lease = {
    hold: async () => {
      const [held] = await db.queryTogether(sql.hold, { site, holder })
      if (!held) {
        await db.queryTogether(sql.shorten, { site })
        return { kind: 'elsewhere' }
      }
      term = Number(held['term'])
      return { kind: 'held', term, forMs: lifeMs - marginMs }
    },
    release: async () => {
      if (term !== undefined) await db.query([sql.release, site, holder])
    },
  }
  const assertDelivers = function* (): Operation<void> {
    if (term === undefined) return
    const [{ rows }] = yield* ask([sql.held, site, holder])
    if (rows[0]?.['term'] !== term) throw new Overtaken('Another instance delivers now.')
  }
  return { lease, assertDelivers }
}
