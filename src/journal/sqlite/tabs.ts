import { sha256 } from '../../platform/digest.ts'
import { type Millis, tabKey } from '../../signup/signup.ts'
import { openKey } from './default-tab.ts'
import type { SqliteSite } from './site.ts'

const hour = 60 * 60 * 1000

export interface Tab {
  readonly id: number
  readonly name: string
  /** It is the default one, whose name is not known yet. */
  readonly isOpen: boolean
}

/** The tabs of a site that signups name, and which new ones they may make. */
export class SqliteTabs {
  readonly #site: SqliteSite
  readonly #namedKeys: ReadonlySet<string>
  /** By key, those that were looked for. No tab that has a name is ever deleted. */
  readonly #known = new Map<string, Tab>()
  /** Keys of those that this transaction has made. */
  #made: string[] = []

  constructor(site: SqliteSite) {
    this.#site = site
    this.#namedKeys = new Set(site.policy.namedTabs.map(tabKey))
  }

  /** A transaction begins. */
  begin(): void {
    this.#made = []
  }

  /** The transaction was rolled back. */
  undo(): void {
    for (const key of this.#made) this.#known.delete(key)
  }

  /** The tab of this name, made when it is missing; undefined when it would be one too many. */
  take(given: string, at: Millis, opener: string | undefined): Tab | undefined {
    const { key, name } = this.#named(given)
    const known = this.#find(key)
    if (known) return known
    if (!this.#mayMake(key, at, opener)) return undefined
    const isCounted = opener !== undefined && !this.#isNamed(key)
    const { db, id: site } = this.#site
    const id = db.insert('addTab', site, key, name, at, isCounted ? sha256(opener) : null)
    db.run('forgetOpeners', site, at - hour)
    this.#made.push(key)
    return this.#keep(key, { id, name, isOpen: key === openKey })
  }

  /** Whether `take` would give a tab. */
  wouldTake(name: string, at: Millis, opener: string | undefined): boolean {
    const { key } = this.#named(name)
    return this.#find(key) !== undefined || this.#mayMake(key, at, opener)
  }

  /** No name is the default tab, by its own name as soon as it has one. */
  #named(name: string): { readonly key: string; readonly name: string } {
    if (name !== '') return { key: tabKey(name), name }
    const { name: called, isResolved } = this.#site.defaultTab.now()
    return { key: isResolved ? tabKey(called) : openKey, name: called }
  }

  #find(key: string): Tab | undefined {
    const known = this.#known.get(key)
    if (known) return known
    // Another process may have made it meanwhile.
    const row = this.#site.db.get('tab', this.#site.id, key)
    return (
      row &&
      this.#keep(key, { id: Number(row['id']), name: String(row['name']), isOpen: key === openKey })
    )
  }

  #keep(key: string, tab: Tab): Tab {
    // It ends when the default tab is resolved, perhaps by another process.
    if (!tab.isOpen) this.#known.set(key, tab)
    return tab
  }

  #mayMake(key: string, at: Millis, opener: string | undefined): boolean {
    if (this.#isNamed(key)) return true
    const { newTabsMax, newTabsPerHourMax } = this.#site.policy
    if (opener !== undefined && this.#openedWithinAnHour(opener, at) >= newTabsPerHourMax)
      return false
    return this.#newTabs < newTabsMax
  }

  #isNamed(key: string): boolean {
    return this.#namedKeys.has(key) || this.#site.defaultTab.keys.includes(key)
  }

  /** Not those of a clock that was ahead, or they would count until it has caught up. */
  #openedWithinAnHour(opener: string, at: Millis): number {
    const { db, id } = this.#site
    return Number(db.get('countTabsOpenedBy', id, sha256(opener), at - hour, at)?.['count'])
  }

  get #newTabs(): number {
    const { db, id } = this.#site
    let count = Number(db.get('countTabs', id)?.['count'])
    const named = new Set([...this.#namedKeys, ...this.#site.defaultTab.keys])
    for (const key of named) if (this.#find(key)) count -= 1
    return count
  }
}
