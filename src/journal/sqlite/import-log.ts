import { timeOfId } from '../../signup/id.ts'
import type { Signup } from '../../signup/signup.ts'
import { addressHash } from '../hashes.ts'
import type { Imported, ImportLog, ImportTerms } from '../contracts/import-log.ts'
import { KnownAddresses } from './known-addresses.ts'
import { NewSignups } from './new-signups.ts'
import { keptAddress } from './retention.ts'
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
      const results = await this.#site.db.retry(() => {
        // Others may have written while this instance waited for the lock.
        if (!keepsDuplicates && !this.#known.learnPart()) return undefined
        return this.#commit(signups, keepsDuplicates)
      })
      if (results) return results
    }
  }

  async flush(): Promise<void> {
    this.#site.db.putOnDisk()
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
        return this.#obstacle(tab, email, keepsDuplicates) ?? 'added'
      })
    })
  }

  /** Returns undefined when it has added nothing, because the known addresses are out of date. */
  #commit(signups: readonly Signup[], keepsDuplicates: boolean): readonly Imported[] | undefined {
    try {
      const results = this.#site.db.unsyncedTransaction(() =>
        this.#signups.within(() => {
          if (!keepsDuplicates && !this.#known.learnRest(this.#signups.lastPosition))
            return undefined
          return signups.map((signup) => this.#insert(signup, keepsDuplicates))
        }),
      )
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
    const obstacle = this.#obstacle(tab.id, signup.email, keepsDuplicates)
    if (obstacle) return obstacle
    this.#signups.add(signup, tab.id)
    return 'added'
  }

  /** Why this address is not added to this tab. */
  #obstacle(tab: number, email: string, keepsDuplicates: boolean): Imported | undefined {
    if (this.#isForgotten(email))
      return !keepsDuplicates && this.#known.has(tab, email) ? 'known' : 'forgotten'
    if (keepsDuplicates) return undefined
    const isKnown = keptAddress(this.#site, tab, email) || !this.#known.learn(tab, email)
    return isKnown ? 'known' : undefined
  }

  #isForgotten(email: string): boolean {
    const { db, id, secret } = this.#site
    // Most journals have no tombstone, and a hash costs more than this look.
    if (!db.get('anyTombstone', id)) return false
    return db.get('tombstone', id, addressHash(secret, email)) !== undefined
  }
}
