import { tabKey } from '../../signup/signup.ts'
import type { DefaultTab } from '../contracts/intake-log.ts'
import type { JournalPolicy } from '../contracts/policy.ts'
import type { SqliteDatabase } from './database.ts'

/** Key of the default tab until it is resolved. No signup can name a tab with this key. */
export const openKey = ''

/** The name of the default tab: from the settings, or the one that was found out for its spreadsheet. */
export class SqliteDefaultTab {
  readonly #db: SqliteDatabase
  readonly #site: number
  readonly #policy: JournalPolicy
  #current: DefaultTab

  /** Moves signups that an earlier process has left under `openKey`, if the tab has its final name now. */
  constructor(db: SqliteDatabase, site: number, policy: JournalPolicy) {
    this.#db = db
    this.#site = site
    this.#policy = policy
    const { name, of } = policy.defaultTab
    this.#current = { name, isResolved: of === undefined }
    if (!this.now().isResolved || !db.get('tab', site, openKey)) return
    db.transaction(() => this.#close(this.#current.name))
  }

  /** The name that this process knows. */
  get current(): DefaultTab {
    return this.#current
  }

  /** The keys of a default tab that the spreadsheet names; none when the settings name it. */
  get keys(): readonly string[] {
    return this.#policy.defaultTab.of === undefined ? [] : [openKey, tabKey(this.#current.name)]
  }

  /** The current name, after a look whether another process has resolved it. */
  now(): DefaultTab {
    if (this.#current.isResolved) return this.#current
    const fact = this.#db.get('fact', this.#site, this.#fact)
    if (fact) this.#current = { name: String(fact['value']), isResolved: true }
    return this.#current
  }

  async resolve(name: string): Promise<DefaultTab> {
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
   * Gives the tab under `openKey` its final name, or moves its signups to the tab of that name. That
   * keeps their order: no batch can hold them or later ones, because `freeze` rejects until this is done.
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
