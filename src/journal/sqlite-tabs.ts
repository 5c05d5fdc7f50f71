import { sha256 } from '../platform/digest.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import type { JournalPolicy } from './journal.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

const hour = 60 * 60 * 1000

export interface Tab {
  readonly id: number
  readonly name: string
}

/** The tabs that signups name, and which new ones they may make. */
export class SqliteTabs {
  readonly #db: SqliteDatabase
  readonly #policy: JournalPolicy
  readonly #namedKeys: ReadonlySet<string>
  /** By key, those that were looked for. No tab is ever deleted. */
  readonly #known = new Map<string, Tab>()
  /** Keys of those that this transaction has made. */
  #made: string[] = []

  constructor(db: SqliteDatabase, policy: JournalPolicy) {
    this.#db = db
    this.#policy = policy
    this.#namedKeys = new Set(policy.namedTabs.map(tabKey))
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
  take(name: string, at: Millis, opener: string | undefined): Tab | undefined {
    const key = tabKey(name)
    const known = this.#find(key)
    if (known) return known
    if (!this.#mayMake(key, at, opener)) return undefined
    const isCounted = opener !== undefined && !this.#namedKeys.has(key)
    const id = this.#db.insert('addTab', key, name, at, isCounted ? sha256(opener) : null)
    this.#db.run('forgetOpeners', at - hour)
    this.#made.push(key)
    return this.#keep(key, { id, name })
  }

  /** Whether `take` would give a tab. */
  wouldTake(name: string, at: Millis, opener: string | undefined): boolean {
    const key = tabKey(name)
    return this.#find(key) !== undefined || this.#mayMake(key, at, opener)
  }

  #find(key: string): Tab | undefined {
    const known = this.#known.get(key)
    if (known) return known
    // Another process may have made it meanwhile.
    const row = this.#db.get('tab', key)
    return row && this.#keep(key, { id: Number(row['id']), name: String(row['name']) })
  }

  #keep(key: string, tab: Tab): Tab {
    this.#known.set(key, tab)
    return tab
  }

  #mayMake(key: string, at: Millis, opener: string | undefined): boolean {
    if (this.#namedKeys.has(key)) return true
    const { newTabsMax, newTabsPerHourMax } = this.#policy
    if (opener !== undefined && this.#openedBy(opener, at - hour) >= newTabsPerHourMax) return false
    return this.#newTabs < newTabsMax
  }

  #openedBy(opener: string, since: Millis): number {
    return Number(this.#db.get('countTabsOpenedBy', sha256(opener), since)?.['count'])
  }

  get #newTabs(): number {
    let count = Number(this.#db.get('countTabs')?.['count'])
    for (const key of this.#namedKeys) if (this.#find(key)) count -= 1
    return count
  }
}
