import type {
  ErasedSlice,
  Erasure,
  Named,
  RemovalOutcome,
  Tombstone,
  Unfinished,
} from '../contracts/erasure.ts'
import { addressHash } from '../hashes.ts'
import type { Step } from './database.ts'
import { type AddressedSignup, eraseForgotten, forgottenAmong, noneErased } from './erase.ts'
import { headLock, siteLock } from './locks.ts'
import { joinSignupAt } from './rows.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

/** How many positions one slice reads. */
const slicePositions = 2_000
/** At most how many signups one transaction erases. */
const erasedAtOnce = 100

/** Whether a signup is of this site, without a join that would begin with all signups of a tab. */
function isOfSite(site: string): string {
  return `(SELECT site FROM rollcall.tab WHERE tab.id = signup.tab) = ${site}`
}

/** The removals, each with its signup and tab. */
const removals = `
  FROM rollcall.removal ${joinSignupAt('removal.position')}
  JOIN rollcall.tab ON tab.id = signup.tab`

const sql = statementsOf('erasure', {
  lastPosition: 'SELECT position FROM rollcall.head',
  bury: `
    INSERT INTO rollcall.tombstone (site, hash, upto)
    SELECT $1, hash, least(upto, head.position)
    FROM unnest($2::text[], $3::bigint[]) AS given (hash, upto) CROSS JOIN rollcall.head
    ON CONFLICT (site, hash) DO UPDATE SET upto = greatest(tombstone.upto, excluded.upto)`,
  dropKeptAddresses: `
    DELETE FROM rollcall.kept_address
    WHERE hash = ANY($2::text[]) AND tab IN (SELECT id FROM rollcall.tab WHERE site = $1)`,
  addressed: `
    SELECT position, email FROM rollcall.signup
    WHERE position > $1 AND position <= $2 AND email <> ''
      AND ($4::text IS NULL OR lower(email COLLATE "C") = $4) AND ${isOfSite('$3')}
    ORDER BY position`,
  mentions: `
    SELECT head.position AS last, (
      SELECT count(*) FROM rollcall.signup
      WHERE position > $1 AND position <= $2 AND lower(email COLLATE "C") <> $4
        AND ${isOfSite('$3')} AND strpos(
          lower((source || ' ' || name || ' ' || tags || ' ' || metadata || ' ' || fields) COLLATE "C"), $4) > 0
    ) AS count FROM rollcall.head`,
  takeFact: 'DELETE FROM rollcall.fact WHERE site = $1 AND name = $2 RETURNING value',
  tombstones: `SELECT hash, upto FROM rollcall.tombstone
               WHERE site = $1 AND hash > $2 ORDER BY hash LIMIT 1000`,
  removals: `
    SELECT asked.no, found.*
    FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY AS asked (site, after, no)
    CROSS JOIN LATERAL (
      SELECT removal.position, removal.email, tab.name AS tab, signup.received_at AS "receivedAt"
      ${removals}
      WHERE tab.site = asked.site AND signup.email = '' AND removal.position > asked.after
      ORDER BY removal.position LIMIT 100
    ) AS found ORDER BY asked.no, found.position`,
  removed: `
    WITH gone AS (DELETE FROM rollcall.removal WHERE position = $1 RETURNING position)
    INSERT INTO rollcall.fact (site, name, value) SELECT $2, $3, $4 FROM gone
    ON CONFLICT (site, name) DO UPDATE SET value = excluded.value`,
  countRemovals: `
    SELECT count(*) FILTER (WHERE signup.email = '') AS removals,
      count(*) FILTER (WHERE signup.email <> '') AS frozen
    ${removals} WHERE tab.site = $1`,
})

export class PostgresErasure implements Erasure {
  readonly #site: PostgresSite

  constructor(site: PostgresSite) {
    this.#site = site
  }

  async forget(address: string): Promise<number> {
    const hash = addressHash(this.#site.secret, address)
    const { db } = this.#site
    const answers = await db.inOneGo(headLock, [
      ...this.#bury([{ hash, upto: Number.MAX_SAFE_INTEGER }]),
      [sql.lastPosition],
    ])
    return Number(answers.at(-1)?.[0]?.['position'])
  }

  async eraseNext(after: number, address?: string): Promise<ErasedSlice> {
    const { db } = this.#site
    const end = after + slicePositions
    const wanted = await this.#between(after, end, address)
    const found = wanted.slice(0, erasedAtOnce)
    const erased =
      found.length === 0
        ? noneErased
        : await db.transaction(siteLock(this.#site.id), (transaction) =>
            eraseForgotten(transaction, this.#site.id, found),
          )
    const reached = wanted.length > found.length ? (found.at(-1)?.position ?? end) : end
    const { last, mentions } = await this.#mentions(after, reached, address)
    return { next: last > reached ? reached : undefined, ...erased, mentions }
  }

  async tombstones(after = ''): Promise<readonly Tombstone[]> {
    const rows = await this.#site.db.all(sql.tombstones, this.#site.id, after)
    return rows.map(({ hash, upto }) => ({ hash: String(hash), upto: Number(upto) }))
  }

  async adopt(tombstones: readonly Tombstone[]): Promise<void> {
    await this.#site.db.inOneGo(headLock, this.#bury(tombstones))
  }

  async removals(after: number): Promise<readonly Named[]> {
    const rows = await this.#site.db.together(sql.removals, this.#site.id, after)
    return rows.map((row) => ({
      position: Number(row['position']),
      tab: String(row['tab']),
      email: String(row['email']),
      receivedAt: Number(row['receivedAt']),
    }))
  }

  async removed(position: number, outcome: RemovalOutcome): Promise<void> {
    const { db, id } = this.#site
    const note = [outcomeFact(position), JSON.stringify(outcome)] as const
    await db.inOneGo(siteLock(id), [[sql.removed, position, id, ...note]])
  }

  async takeOutcome(position: number): Promise<RemovalOutcome | undefined> {
    const { db, id } = this.#site
    const answers = await db.inOneGo(siteLock(id), [[sql.takeFact, id, outcomeFact(position)]])
    const row = answers.at(-1)?.[0]
    return row && (JSON.parse(String(row['value'])) as RemovalOutcome)
  }

  async unfinished(): Promise<Unfinished> {
    const row = await this.#site.db.get(sql.countRemovals, this.#site.id)
    return { removals: Number(row?.['removals']), frozen: Number(row?.['frozen']) }
  }

  /** The database itself removes the copies that it has: docs/decisions/forgetting.md says which, and when. */
  async scrub(): Promise<boolean> {
    return true
  }

  /**
   * The head is locked, too: an append that has looked for tombstones, and was given its position, has
   * committed by then. So it is covered by the tombstone, or knows it.
   */
  #bury(tombstones: readonly Tombstone[]): Step[] {
    const { id } = this.#site
    const hashes = tombstones.map(({ hash }) => hash)
    return [
      siteLock(id),
      [sql.bury, id, hashes, tombstones.map(({ upto }) => upto)],
      [sql.dropKeptAddresses, id, hashes],
    ]
  }

  /** The signups with a tombstone after `after` up to `upto`, of this address or of all. */
  async #between(
    after: number,
    upto: number,
    address: string | undefined,
  ): Promise<readonly AddressedSignup[]> {
    const { db, id } = this.#site
    const rows = await db.all(sql.addressed, after, upto, id, address?.toLowerCase() ?? null)
    const signups = rows.map((row) => ({
      position: Number(row['position']),
      email: String(row['email']),
    }))
    return forgottenAmong(db, this.#site, signups)
  }

  async #mentions(after: number, upto: number, address: string | undefined) {
    const { db, id } = this.#site
    if (address === undefined) {
      return { last: Number((await db.get(sql.lastPosition))?.['position']), mentions: 0 }
    }
    const row = await db.get(sql.mentions, after, upto, id, address.toLowerCase())
    return { last: Number(row?.['last']), mentions: Number(row?.['count']) }
  }
}

/** Name of the fact that has the outcome of a removal. */
function outcomeFact(position: number): string {
  return `removal of ${position}`
}
