import type { Signup } from '../../signup/signup.ts'
import type { Imported, ImportLog, ImportTerms } from '../import-log.ts'
import { KnownAddresses } from './known-addresses.ts'
import { NewSignups } from './new-signups.ts'
import { timeOfId } from './signup-id.ts'
import type { SqliteSite } from './site.ts'
import { SqliteTabs } from './tabs.ts'

export class SqliteImportLog implements ImportLog {
  readonly #site: SqliteSite
  readonly #tabs: SqliteTabs
  readonly #signups: NewSignups
  readonly #known: KnownAddresses

  constructor(site: SqliteSite) {
    this.#site = site
    this.#tabs = new SqliteTabs(site)
    this.#signups = new NewSignups(site)
    this.#known = new KnownAddresses(site)
  }

  async add(
    signups: readonly Signup[],
    { keepsDuplicates = false }: ImportTerms = {},
  ): Promise<readonly Imported[]> {
    for (;;) {
      if (!keepsDuplicates) await this.#known.catchUp()
      const results = await this.#site.db.retry(() => this.#commit(signups, keepsDuplicates))
      if (results) return results
    }
  }

  async preview(
    signups: readonly Signup[],
    { keepsDuplicates = false }: ImportTerms = {},
  ): Promise<readonly Imported[]> {
    const { db } = this.#site
    if (!keepsDuplicates) await this.#known.catchUp()
    return db.snapshot(() => {
      if (!keepsDuplicates) {
        const last = Number(db.get('lastPosition')?.['position'] ?? 0)
        this.#known.learnRest(last)
        this.#known.keep(last)
      }
      return signups.map(({ id, sheetTab, email }): Imported => {
        const tab = this.#tabs.plan(sheetTab, timeOfId(id))
        if (tab === undefined) return 'tooManyTabs'
        return keepsDuplicates || this.#known.learn(tab, email) ? 'added' : 'known'
      })
    })
  }

  /** Returns undefined when it has added nothing, because the known addresses are out of date. */
  #commit(signups: readonly Signup[], keepsDuplicates: boolean): readonly Imported[] | undefined {
    try {
      const results = this.#signups.commit(() => {
        if (!keepsDuplicates && !this.#known.learnRest(this.#signups.lastPosition)) return undefined
        return signups.map((signup) => this.#insert(signup, keepsDuplicates))
      })
      const added = results?.filter((result) => result === 'added').length ?? 0
      if (results && !keepsDuplicates) this.#known.keep(this.#signups.lastPosition)
      if (added > 0) this.#site.appended.tell(added)
      return results
    } catch (error) {
      this.#tabs.forget()
      throw error
    }
  }

  #insert(signup: Signup, keepsDuplicates: boolean): Imported {
    const tab = this.#tabs.take(signup.sheetTab, timeOfId(signup.id), undefined)
    if (!tab) return 'tooManyTabs'
    if (!keepsDuplicates && !this.#known.learn(tab.id, signup.email)) return 'known'
    this.#signups.add(signup, tab.id)
    return 'added'
  }
}
