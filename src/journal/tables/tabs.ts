import { hour } from '../../platform/clock.ts'
import { type Millis, type Signup, tabKey } from '../../signup/signup.ts'
import type { SignupStatus } from '../contracts/intake-log.ts'
import { clientDigest } from '../hashes.ts'
import {
  givenRows,
  type Operation,
  type Row,
  rowOf,
  rowReader,
  statementsOf,
  type Step,
} from '../sql.ts'
import { unresolvedKey } from './default-tab.ts'
import type { Site } from './site.ts'

/** Stands for no limit. */
const countMax = 2 ** 31 - 1

/** What the key of a quarantine tab begins with. No name has this character, so no signup can name such a tab. */
export const heldMark = '\u0001'

/** Whether this key is that of a quarantine tab. */
export const isHeldKey = (key: string) => `substr(${key}, 1, 1) = '${heldMark}'`

/** What cursors call a tab: by its name, and a quarantine tab so that it is no other one of the same name. */
export function cursorName({ key, name }: NamedTab): string {
  return key.startsWith(heldMark) ? heldMark + name : name
}

/** What a status says of the tab that a signup asked for, and of the one that it is in, if that is another one. */
export function tabStatus(
  { key, name }: NamedTab,
  within?: NamedTab,
): Pick<SignupStatus, 'sheetTab' | 'isTabOpen' | 'heldIn'> {
  return {
    sheetTab: name,
    ...(key === unresolvedKey && { isTabOpen: true }),
    ...(within && within.key !== key && { heldIn: cursorName(within) }),
  }
}

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
type TabNaming = Pick<Signup, 'sheetTab'> & Partial<Pick<Signup, 'suspect'>>

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
    WHERE site = $1 AND NOT ${isHeldKey('key')} AND key NOT IN (SELECT free.key FROM ${given('free', '$2', { key: 'text' })}))`
  // A time later than $5 does not count: after the clock was set back, it would count for too long.
  const ofClient = `(
    SELECT count(*) FROM tab
    WHERE site = $1 AND opened_by = $3 AND opened_at > $4 AND opened_at <= $5)`
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
          AND NOT EXISTS (SELECT 1 FROM fact WHERE site = $1 AND fact.name = $9)
          AND NOT EXISTS (SELECT 1 FROM idempotency_key
                          WHERE site = $1 AND idempotency_key.key = $10)
          AND NOT EXISTS (SELECT 1 FROM used_token WHERE digest = $11)
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
  readonly #namedKeys: readonly string[]
  /** The tab for suspect signups, if the policy has one. */
  readonly holding: NamedTab | undefined
  /** By key. They stay valid, because no tab with a final name is ever deleted. */
  readonly #known = new Map<string, Tab>()
  /** Whether the tab without a final name was there. Only the process that names it removes it. */
  #hasUnresolved = false
  /** The keys of tabs that `plan` would have made. */
  readonly #planned = new Set<string>()

  constructor(site: Site) {
    this.#site = site
    const { namedTabs, quarantineTab: name } = site.policy
    this.holding = name === undefined ? undefined : { key: heldMark + tabKey(name), name }
    this.#namedKeys = [...namedTabs.map(tabKey), ...(this.holding ? [this.holding.key] : [])]
  }

  /** The tab that a signup names. An empty name stands for the default tab. */
  named(name: string): NamedTab {
    if (name !== '') return { key: tabKey(name), name }
    const { name: called, isResolved } = this.#site.defaultTab.current
    return { key: isResolved ? tabKey(called) : unresolvedKey, name: called }
  }

  /** The tab that a signup names, by the name that it was first used with, if that is known. */
  called(name: string): NamedTab {
    const tab = this.named(name)
    return this.#known.get(tab.key) ?? tab
  }

  /** This tab, when it is known to be there. The caller knows whether the unresolved one is. */
  known({ key }: NamedTab, unresolved?: Tab): Tab | undefined {
    return key === unresolvedKey ? unresolved : this.#known.get(key)
  }

  /** The tabs that signups name, one for each. Behind them, the tab that holds suspect ones if one is. */
  namedBy(signups: readonly TabNaming[]): readonly NamedTab[] {
    const tabs = signups.map(({ sheetTab }) => this.named(sheetTab))
    const { holding } = this
    return holding && signups.some(({ suspect }) => suspect) ? [...tabs, holding] : tabs
  }

  /** Whether the tabs of these signups were there: a transaction need not make them, but the unresolved one may be gone. */
  wereThere(signups: readonly TabNaming[]): boolean {
    return this.namedBy(signups).every(({ key }) =>
      key === unresolvedKey ? this.#hasUnresolved : this.#known.has(key),
    )
  }

  /** Notes tabs that are there. The unresolved one is not known for long, because any process may resolve it. */
  learn(tabs: Iterable<Tab>): void {
    for (const tab of tabs) {
      if (tab.key === unresolvedKey) this.#hasUnresolved = true
      else this.#known.set(tab.key, tab)
    }
  }

  /** Notes the tabs of rows with `id`, `key` and `name`, where there is an `id`. */
  learnFrom(rows: readonly Row[]): void {
    const isNew = ({ id, key }: Row) => id !== null && !this.#known.has(String(key))
    this.learn(rows.filter(isNew).map(toTab))
  }

  /** To call when a transaction with `take` was rolled back. */
  forget(): void {
    this.#known.clear()
    this.#hasUnresolved = false
  }

  /**
   * Makes those of the tabs that are missing and fit into the limits; none at all when the default tab has
   * got its name, and this process does not know that. It needs the lock of the head.
   */
  stepsToMake({ tabs, at, client, key, token }: TabRequest): readonly Step[] {
    const missing = this.#missing(tabs)
    if (this.#hasUnresolved) missing.delete(unresolvedKey)
    if (missing.size === 0) return []
    const { id, policy, defaultTab } = this.#site
    const wanted = Array.from(missing.values(), (tab, index) => ({
      ...tab,
      no: index + 1,
      isFree: this.#freeKeys.includes(tab.key),
    }))
    const { newTabsMax, newTabsPerHourMax } = policy
    const limits = [Math.min(newTabsMax, countMax), Math.min(newTabsPerHourMax, countMax)] as const
    const fact = missing.has(unresolvedKey) ? defaultTab.fact : null
    const unless = [fact, key ?? null, token ?? null] as const
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
    yield* this.#site.defaultTab.look()
    const tabs = this.namedBy(signups)
    const missing = this.#missing(tabs)
    if (missing.size === 0) return tabs.map(({ key }) => this.#known.get(key))
    const answers = yield [...this.stepsToMake({ tabs, at, client }), this.#find(missing.keys())]
    const found = (answers.at(-1)?.rows ?? []).map(toTab)
    this.learn(found)
    const there = new Map(found.map((tab) => [tab.key, tab]))
    return tabs.map(({ key }) => this.#known.get(key) ?? there.get(key))
  }

  /** Whether a signup for this tab would be taken. */
  async wouldTake(name: string, at: Millis, client: string | undefined): Promise<boolean> {
    await this.#site.defaultTab.latest()
    const { key } = this.named(name)
    if (this.#known.has(key) || this.#freeKeys.includes(key)) return true
    const room = await this.#look([key], at, client)
    return this.#known.has(key) || room > 0
  }

  /** The keys of those of these tabs that are there, or would be made after those of all earlier calls. */
  async plan(tabs: readonly NamedTab[]): Promise<ReadonlySet<string>> {
    const missing = [...this.#missing(tabs).keys()].filter((key) => !this.#planned.has(key))
    const isLimited = (key: string) => !this.#freeKeys.includes(key)
    let room = missing.length === 0 ? 0 : await this.#look(missing, 0, undefined)
    room -= [...this.#planned].filter(isLimited).length
    for (const key of missing) {
      if (this.#known.has(key) || (isLimited(key) && (room -= 1) < 0)) continue
      this.#planned.add(key)
    }
    const keys = tabs.map(({ key }) => key)
    return new Set(keys.filter((key) => this.#known.has(key) || this.#planned.has(key)))
  }

  /** Learns which of these tabs are there. Resolves with how many new ones may be made. */
  async #look(keys: Iterable<string>, at: Millis, client: string | undefined): Promise<number> {
    const { db, policy } = this.#site
    const counts: Step = [sql.counts, ...this.#counting(at, client)]
    const [found, answer] = await db.query(this.#find(keys), counts)
    this.learn(found.rows.map(toTab))
    const { counted, ofClient } = rowOf(answer)
    const inAll = policy.newTabsMax - Number(counted)
    if (client === undefined) return inAll
    return Math.min(inAll, policy.newTabsPerHourMax - Number(ofClient))
  }

  /** Those that are not known to be there. A tab is called as it was named first. */
  #missing(tabs: readonly NamedTab[]): Map<string, NamedTab> {
    const missing = new Map<string, NamedTab>()
    for (const tab of tabs) {
      if (!this.#known.has(tab.key) && !missing.has(tab.key)) missing.set(tab.key, tab)
    }
    return missing
  }

  /** The keys of tabs that do not count as new ones. */
  get #freeKeys(): readonly string[] {
    return [...this.#namedKeys, ...this.#site.defaultTab.keys]
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
