import type { Millis } from '../../signup/signup.ts'
import type { Lease, Tenure } from '../lease.ts'
import { Overtaken } from '../overtaken.ts'
import type { Queries } from './database.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

/** How long the lease stands in the database after it was taken or renewed. */
const lifeMs: Millis = 6000
/** The holder stops so long before the end, so that it has stopped when another instance takes over. */
const marginMs: Millis = 1000

const sql = statementsOf('lease', {
  // Each statement is a transaction of its own, and may run twice. The values after SET and WHERE are of
  // the moment at which the row is locked.
  hold: `INSERT INTO rollcall.lease AS lease (site, holder, term, expires_at)
         VALUES ($1, $2, 1, clock_timestamp() + ${lifeMs} * interval '1 millisecond')
         ON CONFLICT (site) DO UPDATE
         SET holder = $2,
             term = CASE WHEN lease.holder = $2 THEN lease.term ELSE lease.term + 1 END,
             expires_at = clock_timestamp() + ${lifeMs} * interval '1 millisecond'
         WHERE lease.holder = $2 OR lease.expires_at <= clock_timestamp()
         RETURNING lease.term`,
  // The clock of the database was set back. The holder still has time to renew the lease.
  shorten: `UPDATE rollcall.lease SET expires_at = clock_timestamp() + ${lifeMs} * interval '1 millisecond'
            WHERE site = $1 AND expires_at > clock_timestamp() + ${lifeMs} * interval '1 millisecond'`,
  release: `UPDATE rollcall.lease SET holder = '', expires_at = clock_timestamp()
            WHERE site = $1 AND holder = $2`,
  held: 'SELECT term FROM rollcall.lease WHERE site = $1 AND holder = $2',
})

/** The lease of a site, by the clock of the database. */
export class PostgresLease implements Lease {
  readonly #site: Pick<PostgresSite, 'db' | 'id' | 'guard'>
  readonly #holder = crypto.randomUUID()
  /** The last term of this instance; undefined until it holds the lease for the first time. */
  #term: number | undefined

  /** @param site with a database that has `leaseLimits` */
  constructor(site: Pick<PostgresSite, 'db' | 'id' | 'guard'>) {
    this.#site = site
  }

  async hold(): Promise<Tenure> {
    const { db, id, guard } = this.#site
    // Asked first, because who holds the lease keeps others from delivering.
    await db.get(...guard)
    const row = await db.get(sql.hold, id, this.#holder)
    if (!row) {
      await db.get(sql.shorten, id)
      return { kind: 'elsewhere' }
    }
    this.#term = Number(row['term'])
    return { kind: 'held', term: this.#term, forMs: lifeMs - marginMs }
  }

  async release(): Promise<void> {
    const { db, id } = this.#site
    if (this.#term === undefined) return
    await db.get(sql.release, id, this.#holder)
  }

  /**
   * Rejects with `Overtaken` if this instance has held the lease, and does not hold it any more. Call it
   * in every transaction that ends a batch, after the lock of the site.
   */
  async assertTerm(transaction: Queries): Promise<void> {
    if (this.#term === undefined) return
    const held = await transaction.get(sql.held, this.#site.id, this.#holder)
    if (held?.['term'] !== this.#term) throw new Overtaken('Another instance delivers now.')
  }
}
