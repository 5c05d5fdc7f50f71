import { sha256 } from '../../platform/node/digest.ts'
import { type Millis, tabKey } from '../../signup/signup.ts'
import { openKey } from './default-tab.ts'
import type { SqliteSite } from './site.ts'

const hour = 60 * 60 * 1000

export interface Tab {
  readonly id: number
  readonly name: string
  /** Whether it is the default tab and has no final name yet. */
  readonly isOpen: boolean
}

/** Finds the tabs that signups name, and makes new ones within the limits of the policy. */
export class SqliteTabs {
  readonly #site: SqliteSite
  readonly #namedKeys: ReadonlySet<string>
  /** The numbers of tabs that `plan` would have made, by key. */
  readonly #planned = new Map<string, number>()
  /** The tabs that were found or made, by key. They stay valid: no tab with a final name is ever deleted. */
  readonly #known = new Map<string, Tab>()

  constructor(site: SqliteSite) {
    this.#site = site
    this.#namedKeys = new Set(site.policy.namedTabs.map(tabKey))
  }

  /** To call when a transaction was rolled back, because it may have made tabs. */
  forget(): void {
    this.#known.clear()
  }

  /** Finds or makes the tab of this name. Returns undefined when it would be one too many. */
  take(given: string, at: Millis, opener: string | undefined): Tab | undefined {
    const { key, name } = this.#named(given)
    const known = this.#find(key)
    if (known) return known
    if (!this.#mayMake(key, at, opener)) return undefined
    const isCounted = opener !== undefined && !this.#isNamed(key)
    const { db, id: site } = this.#site
    const id = db.insert('addTab', site, key, name, at, isCounted ? sha256(opener) : null)
    db.run('forgetOpeners', site, at - hour)
    return this.#keep(key, { id, name, isOpen: key === openKey })
  }

  /** Whether `take` would give a tab. */
  wouldTake(name: string, at: Millis, opener: string | undefined): boolean {
    const { key } = this.#named(name)
    return this.#find(key) !== undefined || this.#mayMake(key, at, opener)
  }

  /**
   * The id of the tab that `take` would give after all earlier calls of `plan`, or a negative number that
   * stands for a tab that it would make. Makes none.
   */
  plan(given: string, at: Millis): number | undefined {
    const { key } = this.#named(given)
    const known = this.#find(key)?.id ?? this.#planned.get(key)
    if (known !== undefined) return known
    const planned = [...this.#planned.keys()].filter((other) => !this.#isNamed(other))
    if (!this.#mayMake(key, at, undefined, planned.length)) return undefined
    const id = -1 - this.#planned.size
    this.#planned.set(key, id)
    return id
  }

  /** An empty name stands for the default tab. */
  #named(name: string): { readonly key: string; readonly name: string } {
    if (name !== '') return { key: tabKey(name), name }
    const { name: called, isResolved } = this.#site.defaultTab.now()
    return { key: isResolved ? tabKey(called) : openKey, name: called }
  }

  #find(key: string): Tab | undefined {
    const known = this.#known.get(key)
    if (known) return known
    // Another process may have made the tab meanwhile.
    const row = this.#site.db.get('tab', this.#site.id, key)
    return (
      row &&
      this.#keep(key, { id: Number(row['id']), name: String(row['name']), isOpen: key === openKey })
    )
  }

  #keep(key: string, tab: Tab): Tab {
    // Forget an open tab, because any process may resolve it, which can delete it.
    if (!tab.isOpen) this.#known.set(key, tab)
    return tab
  }

  #mayMake(key: string, at: Millis, opener: string | undefined, planned = 0): boolean {
    if (this.#isNamed(key)) return true
    const { newTabsMax, newTabsPerHourMax } = this.#site.policy
    if (opener !== undefined && this.#openedWithinAnHour(opener, at) >= newTabsPerHourMax)
      return false
    return this.#newTabs + planned < newTabsMax
  }

  #isNamed(key: string): boolean {
    return this.#namedKeys.has(key) || this.#site.defaultTab.keys.includes(key)
  }

  /** Leaves out tabs with a time later than `at`: after the clock was set back, they would count for too long. */
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
