import { tabKey } from '../../signup/signup.ts'
import type { DefaultTab } from '../intake-log.ts'
import type { JournalPolicy } from '../policy.ts'
import type { SqliteDatabase } from './database.ts'

/** Key of the default tab until it is resolved. No tab that a signup names has it. */
export const openKey = ''

/** What the default tab is called: by the settings, or by a fact that was noted for its spreadsheet. */
export class SqliteDefaultTab {
  readonly #db: SqliteDatabase
  readonly #site: number
  readonly #policy: JournalPolicy
  #current: DefaultTab

  /** An earlier process may have left signups for a default tab that has its name by now. */
  constructor(db: SqliteDatabase, site: number, policy: JournalPolicy) {
    this.#db = db
    this.#site = site
    this.#policy = policy
    const { name, of } = policy.defaultTab
    this.#current = { name, isResolved: of === undefined }
    if (!this.now().isResolved || !db.get('tab', site, openKey)) return
    db.transaction(() => this.#close(this.#current.name))
  }

  /** As far as this process knows. */
  get current(): DefaultTab {
    return this.#current
  }

  /** Of a default tab that is no tab of the settings. */
  get keys(): readonly string[] {
    return this.#policy.defaultTab.of === undefined ? [] : [openKey, tabKey(this.#current.name)]
  }

  /** Looks whether another process has resolved it. */
  now(): DefaultTab {
    if (this.#current.isResolved) return this.#current
    const fact = this.#db.get('fact', this.#site, this.#fact)
    if (fact) this.#current = { name: String(fact['value']), isResolved: true }
    return this.#current
  }

  async resolve(name: string): Promise<DefaultTab> {
    if (this.now().isResolved) return this.#current
    const resolved = await this.#db.write(() => {
      const { name: noted, isResolved } = this.now()
      if (isResolved) return noted
      this.#db.run('setFact', this.#site, this.#fact, name)
      this.#close(name)
      return name
    })
    return (this.#current = { name: resolved, isResolved: true })
  }

  get #fact(): string {
    return `default tab of ${this.#policy.defaultTab.of ?? ''}`
  }

  /**
   * Ends the tab without a name. No signup of it is in a batch, and all that are in one are older, as
   * nothing is frozen while there is such a tab.
   */
  #close(name: string): void {
    const open = this.#db.get('tab', this.#site, openKey)
    if (!open) return
    const id = Number(open['id'])
    const key = tabKey(name)
    const named = this.#db.get('tab', this.#site, key)
    if (!named) {
      this.#db.run('nameTab', key, name, id)
      return
    }
    const target = Number(named['id'])
    if (this.#policy.duplicates === 'ignore') this.#db.run('ignoreDuplicates', id, target)
    this.#db.run('moveSignups', id, target)
    this.#db.run('moveAccepted', id, target)
    this.#db.run('deleteTab', id)
  }
}
