import { hour } from '../../platform/clock.ts'
import { type Millis, type Signup, tabKey } from '../../signup/signup.ts'
import { clientDigest } from '../hashes.ts'
import {
  ask,
  givenRows,
  type Operation,
  reading,
  type Row,
  rowOf,
  rowReader,
  statementsOf,
  type Step,
} from '../sql.ts'
import type { Site } from './site.ts'

/** Stands for no limit. */
const countMax = 2 ** 31 - 1

/** A tab as a signup names it. */
export interface NamedTab {
  readonly key: string
  readonly name: string
}

/** A tab that is there, with the name that it was given first. */
export interface Tab extends NamedTab {
  readonly id: number
}

/** What a signup says of its tab. */
type TabNaming = Pick<Signup, 'sheetTab'>

/** A request for tabs. */
export interface TabRequest {
  readonly tabs: readonly NamedTab[]
  readonly at: Millis
  /** Who would make them; see `AppendTerms`. */
  readonly client?: string | undefined
  /** Makes none when the journal has this hash of an idempotency key. */
  readonly key?: string | undefined
  /** Makes none when this challenge token is used. */
  readonly token?: string | undefined
}

const sql = statementsOf('tabs', ({ given }) => {
  const counted = `(
    SELECT count(*) FROM tab
    WHERE site = $1 AND key NOT IN (SELECT free.key FROM ${given('free', '$2', { key: 'text' })}))`
  // A time later than $5 does not count: after the clock was set back, it would count for too long.
  const isOpened = 'site = $1 AND opened_by = $3 AND opened_at > $4 AND opened_at <= $5'
  const isAsked = 'site = $1 AND asked_by = $3 AND asked_at > $4 AND asked_at <= $5'
  const ofClient = `((SELECT count(*) FROM tab WHERE ${isOpened}) + (SELECT count(*) FROM asked_tab WHERE ${isAsked}))`
  return {
    counts: `SELECT ${counted} AS counted, ${ofClient} AS "ofClient"`,
    find: `SELECT tab.id, tab.key, tab.name FROM ${given('wanted', '$2', { key: 'text' })}
           JOIN tab ON tab.site = $1 AND tab.key = wanted.key`,
    // $7 new tabs are allowed in all, $8 of them in an hour. `nth` counts those that are limited.
    make: `
      INSERT INTO tab (id, site, key, name, opened_at, opened_by)
      SELECT (SELECT coalesce(max(id), 0) FROM tab) + no, $1, key, name, $5,
        CASE WHEN "isFree" THEN NULL ELSE $3 END
      FROM (
        SELECT wanted.*, count(*) FILTER (WHERE NOT "isFree") OVER (ORDER BY no) AS nth
        FROM ${given('wanted', '$6', { key: 'text', name: 'text', isFree: 'flag', no: 'integer' })}
        WHERE NOT EXISTS (SELECT 1 FROM tab WHERE site = $1 AND tab.key = wanted.key)
          AND NOT EXISTS (SELECT 1 FROM idempotency_key
                          WHERE site = $1 AND idempotency_key.key = $9)
          AND NOT EXISTS (SELECT 1 FROM used_token WHERE digest = $10)
      ) AS missing
      WHERE "isFree" OR (nth <= $7 - ${counted}
                         AND (CAST($3 AS text) IS NULL OR nth <= $8 - ${ofClient}))`,
    begin: `INSERT INTO progress (tab)
            SELECT id FROM tab
            WHERE site = $1 AND key IN (SELECT made.key FROM ${given('made', '$2', { key: 'text' })})
            ON CONFLICT (tab) DO NOTHING`,
    forgetClients: `UPDATE tab SET opened_by = NULL
                    WHERE site = $1 AND opened_by IS NOT NULL AND opened_at <= $2`,
  }
})

/** Finds the tabs that signups name, and makes new ones within the limits of the policy. */
export class Tabs {
  readonly #site: Site
  /** The keys of tabs that do not count as new ones. */
  readonly #freeKeys: readonly string[]
  /** By key. They stay valid, because no tab is ever deleted. */
  readonly #known = new Map<string, Tab>()
  /** The keys of tabs that `plan` would have made. */
  readonly #planned = new Set<string>()

  constructor(site: Site) {
    this.#site = site
    this.#freeKeys = site.policy.namedTabs.map(tabKey)
  }

  /** The tab that a signup names. An empty name stands for the default tab. */
  named(name: string): NamedTab {
    const called = name === '' ? this.#site.policy.defaultTab : name
    return { key: tabKey(called), name: called }
  }

  /** The tab that a signup names, by the name that it was first used with, if that is known. */
  called(name: string): NamedTab {
    const tab = this.named(name)
    return this.#known.get(tab.key) ?? tab
  }

  /** This tab, when it is known to be there. */
  known({ key }: NamedTab): Tab | undefined {
    return this.#known.get(key)
  }

  /** The tabs that signups name, one for each. */
  namedBy(signups: readonly TabNaming[]): readonly NamedTab[] {
    return signups.map(({ sheetTab }) => this.named(sheetTab))
  }

  /** These signups, and behind them what names the overflow tab, if some may go there. */
  reachedBy(signups: readonly TabNaming[]): readonly TabNaming[] {
    const { after, overflowTab } = this.#site.policy.closing ?? {}
    if (after === undefined || overflowTab === undefined) return signups
    return [...signups, { sheetTab: overflowTab }]
  }

  /** Whether the tabs of these signups were there: a transaction need not make them. */
  wereThere(signups: readonly TabNaming[]): boolean {
    return this.namedBy(this.reachedBy(signups)).every(({ key }) => this.#known.has(key))
  }

  /** Notes tabs that are there. */
  learn(tabs: Iterable<Tab>): void {
    for (const tab of tabs) this.#known.set(tab.key, tab)
  }

  /** Notes the tabs of rows with `id`, `key` and `name`, where there is an `id`. */
  learnFrom(rows: readonly Row[]): void {
    const isNew = ({ id, key }: Row) => id !== null && !this.#known.has(String(key))
    this.learn(rows.filter(isNew).map(toTab))
  }

  /** To call when a transaction with `take` was rolled back. */
  forget(): void {
    this.#known.clear()
  }

  /** Makes those of the tabs that are missing and fit into the limits. It needs the lock of the head. */
  stepsToMake({ tabs, at, client, key, token }: TabRequest): readonly Step[] {
    const missing = this.#missing(tabs)
    if (missing.size === 0) return []
    const { id, policy } = this.#site
    const wanted = Array.from(missing.values(), (tab, index) => ({
      ...tab,
      no: index + 1,
      isFree: this.#freeKeys.includes(tab.key),
    }))
    const { newTabsMax, newTabsPerHourMax } = policy
    const limits = [Math.min(newTabsMax, countMax), Math.min(newTabsPerHourMax, countMax)] as const
    const unless = [key ?? null, token ?? null] as const
    return [
      [sql.make, ...this.#counting(at, client), givenRows(wanted), ...limits, ...unless],
      [sql.begin, id, givenKeys(missing.keys())],
      [sql.forgetClients, id, at - hour],
    ]
  }

  /** The tabs of `namedBy`, which it makes where necessary; undefined where one would be one too many. */
  *take(
    signups: readonly TabNaming[],
    at: Millis,
    client: string | undefined,
  ): Operation<readonly (Tab | undefined)[]> {
    const tabs = this.namedBy(signups)
    const missing = this.#missing(tabs)
    if (missing.size === 0) return tabs.map(({ key }) => this.#known.get(key))
    const answers = yield [...this.stepsToMake({ tabs, at, client }), this.#find(missing.keys())]
    const found = (answers.at(-1)?.rows ?? []).map(toTab)
    this.learn(found)
    const there = new Map(found.map((tab) => [tab.key, tab]))
    return tabs.map(({ key }) => this.#known.get(key) ?? there.get(key))
  }

  /** Those of these names of tabs whose tab is there, or in the settings, as it was named first. */
  *thereOf(names: readonly string[]): Operation<readonly string[]> {
    const missing = this.#missing(names.map((name) => this.named(name)))
    if (missing.size > 0) {
      const [{ rows }] = yield* ask(this.#find(missing.keys()))
      this.learn(rows.map(toTab))
    }
    const there = names.filter((name) => {
      const { key } = this.named(name)
      return this.#known.has(key) || this.#freeKeys.includes(key)
    })
    return [...new Set(there.map((name) => this.called(name).name))]
  }

  /** The keys of those of these names of tabs that count as new ones, as far as is known. */
  limited(names: readonly string[]): readonly string[] {
    const missing = this.#missing(names.map((name) => this.named(name)))
    for (const key of this.#freeKeys) missing.delete(key)
    return [...missing.keys()]
  }

  /** The keys of those of these tabs that are there, or would be made after those of all earlier calls. */
  async plan(tabs: readonly NamedTab[]): Promise<ReadonlySet<string>> {
    const missing = [...this.#missing(tabs).keys()].filter((key) => !this.#planned.has(key))
    if (missing.length === 0) return new Set(tabs.map(({ key }) => key))
    const isLimited = (key: string) => !this.#freeKeys.includes(key)
    const { inAll } = await reading(this.#site.db, this.look(missing, 0, undefined))
    let room = inAll - [...this.#planned].filter(isLimited).length
    for (const key of missing) {
      if (this.#known.has(key) || (isLimited(key) && (room -= 1) < 0)) continue
      this.#planned.add(key)
    }
    const isThere = ({ key }: NamedTab) => this.#known.has(key) || this.#planned.has(key)
    return new Set(tabs.filter(isThere).map(({ key }) => key))
  }

  /** Learns which of these tabs are there. Returns how many new ones may be made, in all and by the client. */
  *look(keys: Iterable<string>, at: Millis, client: string | undefined) {
    const counts: Step = [sql.counts, ...this.#counting(at, client)]
    const [found, answer] = yield* ask(this.#find(keys), counts)
    this.learn(found.rows.map(toTab))
    const { newTabsMax, newTabsPerHourMax } = this.#site.policy
    const { counted, ofClient } = rowOf(answer)
    return {
      inAll: newTabsMax - Number(counted),
      byClient: client === undefined ? Infinity : newTabsPerHourMax - Number(ofClient),
    }
  }

  /** Those that are not known to be there. A tab is called as it was named first. */
  #missing(tabs: readonly NamedTab[]): Map<string, NamedTab> {
    const missing = new Map<string, NamedTab>()
    for (const tab of tabs) {
      if (!this.#known.has(tab.key) && !missing.has(tab.key)) missing.set(tab.key, tab)
    }
    return missing
  }

  #find(keys: Iterable<string>): Step {
    return [sql.find, this.#site.id, givenKeys(keys)]
  }

  /** The values from $1 to $5. */
  #counting(at: Millis, client: string | undefined) {
    const digest = client === undefined ? null : clientDigest(client)
    return [this.#site.id, givenKeys(this.#freeKeys), digest, at - hour, at] as const
  }
}

function givenKeys(keys: Iterable<string>): string {
  return givenRows(Array.from(keys, (key) => ({ key })))
}

const toTab = rowReader({ id: Number, key: String, name: String })
