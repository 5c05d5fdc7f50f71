import type { Millis } from '../../signup/signup.ts'
import type { Lease, Tenure } from '../contracts/lease.ts'
import { Overtaken } from '../contracts/overtaken.ts'
import type { PostgresDatabase, Queries, Step } from './database.ts'
import { statementsOf } from './statement.ts'
import { Together } from './together.ts'

/** How long the lease stands in the database after it was taken or renewed. */
const lifeMs: Millis = 6000
/** The holder stops so long before the end, so that it has stopped when another instance takes over. */
const marginMs: Millis = 1000

const sql = statementsOf('lease', {
  // Each statement is a transaction of its own, and may run twice. The values after SET and WHERE are of
  // the moment at which the row is locked. All instances lock the rows in the same order.
  hold: `INSERT INTO rollcall.lease AS lease (site, holder, term, expires_at)
         SELECT site, $2, 1, clock_timestamp() + ${lifeMs} * interval '1 millisecond'
         FROM unnest($1::integer[]) AS site ORDER BY site
         ON CONFLICT (site) DO UPDATE
         SET holder = $2,
             term = CASE WHEN lease.holder = $2 THEN lease.term ELSE lease.term + 1 END,
             expires_at = clock_timestamp() + ${lifeMs} * interval '1 millisecond'
         WHERE lease.holder = $2 OR lease.expires_at <= clock_timestamp()
         RETURNING lease.site, lease.term`,
  // The clock of the database was set back. The holder still has time to renew the lease.
  shorten: `UPDATE rollcall.lease SET expires_at = clock_timestamp() + ${lifeMs} * interval '1 millisecond'
            WHERE site = ANY($1::integer[])
              AND expires_at > clock_timestamp() + ${lifeMs} * interval '1 millisecond'`,
  release: `UPDATE rollcall.lease SET holder = '', expires_at = clock_timestamp()
            WHERE site = $1 AND holder = $2`,
  held: 'SELECT term FROM rollcall.lease WHERE site = $1 AND holder = $2',
})

/** The leases of all sites of one instance. */
export class PostgresLeases {
  readonly db: PostgresDatabase
  readonly holder = crypto.randomUUID()
  readonly #guard: Step
  readonly #together = new Together((sites: readonly number[]) => this.#holdAll(sites))

  /** @param db has `leaseLimits` */
  constructor(db: PostgresDatabase, guard: Step) {
    this.db = db
    this.#guard = guard
  }

  /** Takes or renews the lease of a site. Resolves with its term; undefined when another instance has it. */
  hold(site: number): Promise<number | undefined> {
    return this.#together.ask(site)
  }

  async #holdAll(sites: readonly number[]): Promise<readonly (number | undefined)[]> {
    // Asked first, because who holds the lease keeps others from delivering.
    await this.db.get(...this.#guard)
    const each = [...new Set(sites)]
    const rows = await this.db.all(sql.hold, each, this.holder)
    if (rows.length < each.length) await this.db.get(sql.shorten, each)
    const terms = new Map(rows.map(({ site, term }) => [site, Number(term)]))
    return sites.map((site) => terms.get(site))
  }
}

/** The lease of a site, by the clock of the database. */
export class PostgresLease implements Lease {
  readonly #site: number
  readonly #leases: PostgresLeases
  /** The last term of this instance; undefined until it holds the lease for the first time. */
  #term: number | undefined

  constructor(site: number, leases: PostgresLeases) {
    this.#site = site
    this.#leases = leases
  }

  async hold(): Promise<Tenure> {
    const term = await this.#leases.hold(this.#site)
    if (term === undefined) return { kind: 'elsewhere' }
    this.#term = term
    return { kind: 'held', term, forMs: lifeMs - marginMs }
  }

  async release(): Promise<void> {
    const { db, holder } = this.#leases
    if (this.#term === undefined) return
    await db.get(sql.release, this.#site, holder)
  }

  /**
   * Rejects with `Overtaken` if this instance has held the lease, and does not hold it any more. Call it
   * in every transaction that ends a batch, after the lock of the site.
   */
  async assertTerm(transaction: Queries): Promise<void> {
    if (this.#term === undefined) return
    const held = await transaction.get(sql.held, this.#site, this.#leases.holder)
    if (held?.['term'] !== this.#term) throw new Overtaken('Another instance delivers now.')
  }
}
