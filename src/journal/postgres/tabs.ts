import { sha256 } from '../../platform/node/digest.ts'
import { type Millis, tabKey } from '../../signup/signup.ts'
import type { HashedRequest, NamedTab } from './append-request.ts'
import type { Queries, Step } from './database.ts'
import { openKey } from './default-tab.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

const hour = 60 * 60 * 1000

/** Stands for no limit. */
const countMax = 2 ** 31 - 1

/** How many tabs are left: $2 keys of named tabs, $3 limit, $4 opener, $5 its limit, $6 and $7 its hour. */
const room = `
  SELECT least(
    $3 - (SELECT count(*) FROM rollcall.tab WHERE site = $1 AND NOT key = ANY ($2::text[])),
    CASE WHEN $4::text IS NULL THEN $3 ELSE
      $5 - (SELECT count(*) FROM rollcall.tab
            WHERE site = $1 AND opened_by = $4 AND opened_at > $6 AND opened_at <= $7)
    END) AS tabs`

const sql = statementsOf('tabs', {
  room: `SELECT EXISTS (SELECT 1 FROM rollcall.tab WHERE site = $1 AND key = $8) AS "isThere",
           (${room})`,
  there: 'SELECT key FROM rollcall.tab WHERE site = $1 AND key = ANY($2::text[])',
  make: `
    WITH wanted AS (
      SELECT key, name, is_named, no, count(*) FILTER (WHERE NOT is_named) OVER (ORDER BY no) AS nth
      FROM unnest($8::text[], $9::text[], $10::boolean[]) WITH ORDINALITY
        AS given (key, name, is_named, no)
      WHERE NOT EXISTS (SELECT 1 FROM rollcall.tab WHERE site = $1 AND tab.key = given.key)
        AND NOT EXISTS (SELECT 1 FROM rollcall.fact WHERE site = $1 AND fact.name = $11)
        AND NOT EXISTS (SELECT 1 FROM rollcall.idempotency_key WHERE site = $1
                        AND idempotency_key.key = $12)
        AND NOT EXISTS (SELECT 1 FROM rollcall.used_token WHERE digest = $13)
    ), made AS (
      INSERT INTO rollcall.tab (id, site, key, name, opened_at, opened_by)
      SELECT head.tab + row_number() OVER (ORDER BY no), $1, key, name, $7,
        CASE WHEN is_named THEN NULL ELSE $4 END
      FROM wanted, rollcall.head, (${room}) AS room
      WHERE is_named OR nth <= room.tabs
      RETURNING id
    ), begun AS (
      INSERT INTO rollcall.progress (tab) SELECT id FROM made
    )
    UPDATE rollcall.head SET tab = tab + (SELECT count(*) FROM made)`,
  forgetOpeners: `UPDATE rollcall.tab SET opened_by = NULL
                  WHERE site = $1 AND opened_by IS NOT NULL AND opened_at <= $2`,
})

/** The tabs that signups name. New ones are made within the limits of the policy. */
export class PostgresTabs {
  readonly #site: PostgresSite
  readonly #namedKeys: readonly string[]
  /** Keys of tabs that are there. No tab with a final name is ever deleted. */
  readonly #known = new Set<string>()

  constructor(site: PostgresSite) {
    this.#site = site
    this.#namedKeys = site.policy.namedTabs.map(tabKey)
  }

  /** The tab that a signup names. An empty name stands for the default tab. */
  named(name: string): NamedTab {
    if (name !== '') return { key: tabKey(name), name }
    const { name: called, isResolved } = this.#site.defaultTab.current
    return { key: isResolved ? tabKey(called) : openKey, name: called }
  }

  /** Whether a tab of this name is known to be there. */
  isKnown(name: string): boolean {
    return this.#known.has(this.named(name).key)
  }

  /** Notes that these tabs are there. The open tab is not noted, because any process may resolve it. */
  learn(keys: Iterable<string>): void {
    for (const key of keys) if (key !== openKey) this.#known.add(key)
  }

  /**
   * What makes those of the request's tabs that are missing and fit into the limits. It belongs behind the
   * lock of the head. Makes none for a repeated request, nor for one with a used token.
   */
  stepsToMake({ signups, terms, key, tabs }: HashedRequest): readonly Step[] {
    const missing = new Map<string, NamedTab>()
    for (const tab of tabs) {
      // A tab is called as it was named first.
      if (!this.#known.has(tab.key) && !missing.has(tab.key)) missing.set(tab.key, tab)
    }
    if (missing.size === 0) return []
    const { id, defaultTab } = this.#site
    const at = signups[0]?.receivedAt ?? 0
    const names = Array.from(missing.values(), ({ name }) => name)
    const isNamed = Array.from(missing.keys(), (one) => this.#keysThatDoNotCount.includes(one))
    return [
      [
        sql.make,
        ...this.#roomFor(at, terms.opener),
        [...missing.keys()],
        names,
        isNamed,
        missing.has(openKey) ? defaultTab.fact : null,
        key ?? null,
        terms.token ?? null,
      ],
      [sql.forgetOpeners, id, at - hour],
    ]
  }

  /** Whether a signup for this tab would be taken. */
  async wouldTake(
    name: string,
    at: Millis,
    opener: string | undefined,
    queries: Queries = this.#site.db,
  ): Promise<boolean> {
    await this.#site.defaultTab.now(queries)
    const { key } = this.named(name)
    if (this.#known.has(key) || this.#keysThatDoNotCount.includes(key)) return true
    const row = await queries.get(sql.room, ...this.#roomFor(at, opener), key)
    return row?.['isThere'] === true || Number(row?.['tabs']) > 0
  }

  /** Which of these tabs are there, and how many more of those that are not free can be made. */
  async look(
    keys: readonly string[],
  ): Promise<{ readonly there: ReadonlySet<string>; readonly room: number }> {
    const { db, id } = this.#site
    const [found, row] = await Promise.all([
      db.all(sql.there, id, keys),
      db.get(sql.room, ...this.#roomFor(0, undefined), ''),
    ])
    return { there: new Set(found.map(({ key }) => String(key))), room: Number(row?.['tabs']) }
  }

  /** Whether the tab with this key does not count as a new one. */
  isFree(key: string): boolean {
    return this.#keysThatDoNotCount.includes(key)
  }

  get #keysThatDoNotCount(): readonly string[] {
    return [...this.#namedKeys, ...this.#site.defaultTab.keys]
  }

  /** The values of `room`. */
  #roomFor(at: Millis, opener: string | undefined) {
    const { id, policy } = this.#site
    return [
      id,
      this.#keysThatDoNotCount,
      Math.min(policy.newTabsMax, countMax),
      opener === undefined ? null : sha256(opener),
      Math.min(policy.newTabsPerHourMax, countMax),
      at - hour,
      at,
    ] as const
  }
}
