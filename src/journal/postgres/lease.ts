import type { Millis } from '../../signup/signup.ts'
import type { Lease, Tenure } from '../contracts/lease.ts'
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
  // the moment at which the row is locked. All instances lock the rows in the same order. The first term
  // divides by zero when another journal was moved here, because who holds a lease keeps others from delivering.
  hold: `WITH asked AS (
           SELECT * FROM ${given('asked', '$1', { no: 'integer', site: 'integer', holder: 'text', journal: 'text' })}
         ), held AS (
           INSERT INTO lease (site, holder, term, expires_at)
           SELECT site, holder, 1 / (SELECT count(*) FROM head WHERE head.journal = instance.journal),
             ${newEnd}
           FROM (SELECT DISTINCT site, holder, journal FROM asked) AS instance ORDER BY site
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
  /** As `PostgresDatabase.keepToJournal` tells it. */
  readonly journal: string
}

/** The lease of a site, by the clock of the database. An instance holds those of all its sites together. */
export class PostgresLease implements Lease {
  readonly #db: PostgresDatabase
  readonly #of: LeaseOptions
  /** The last term of this instance; undefined until it holds the lease for the first time. */
  #term: number | undefined

  /** @param db has `leaseLimits` */
  constructor(db: PostgresDatabase, of: LeaseOptions) {
    this.#db = db
    this.#of = of
  }

  async hold(): Promise<Tenure> {
    const { site, holder, journal } = this.#of
    const [held] = await this.#db.queryTogether(sql.hold, { site, holder, journal })
    if (!held) {
      await this.#db.queryTogether(sql.shorten, { site })
      return { kind: 'elsewhere' }
    }
    this.#term = Number(held['term'])
    return { kind: 'held', term: this.#term, forMs: lifeMs - marginMs }
  }

  async release(): Promise<void> {
    if (this.#term === undefined) return
    await this.#db.query([sql.release, this.#of.site, this.#of.holder])
  }

  /**
   * Throws `Overtaken` if this instance has held the lease, and does not hold it any more. Call it
   * in every transaction that ends a batch, after the lock of the site.
   */
  *assertTerm(): Operation<void> {
    if (this.#term === undefined) return
    const [{ rows }] = yield* ask([sql.held, this.#of.site, this.#of.holder])
    if (rows[0]?.['term'] !== this.#term) throw new Overtaken('Another instance delivers now.')
  }
}
