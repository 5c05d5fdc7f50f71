import { tabKey } from '../../signup/signup.ts'
import type { DefaultTab } from '../intake-log.ts'
import type { JournalPolicy } from '../policy.ts'
import type { PostgresDatabase, Queries, Transaction } from './database.ts'
import { headLock, siteLock } from './locks.ts'
import { statementsOf } from './statement.ts'

/** Key of the default tab until it is resolved. No signup can name a tab with this key. */
export const openKey = ''

const sql = statementsOf('default tab', {
  fact: 'SELECT value FROM rollcall.fact WHERE site = $1 AND name = $2',
  setFact: 'INSERT INTO rollcall.fact (site, name, value) VALUES ($1, $2, $3)',
  tab: 'SELECT id FROM rollcall.tab WHERE site = $1 AND key = $2',
  nameTab: 'UPDATE rollcall.tab SET key = $1, name = $2 WHERE id = $3',
  // Runs before the signups of $1 move to $2. Marks those that become duplicates by the move.
  ignoreDuplicates: `
    UPDATE rollcall.signup AS later SET is_ignored = 1
    WHERE tab IN ($1, $2) AND email <> ''
      AND position >= (SELECT min(position) FROM rollcall.signup WHERE tab = $1)
      AND EXISTS (
        SELECT 1 FROM rollcall.signup AS earlier
        WHERE earlier.tab IN ($1, $2) AND earlier.position < later.position
          AND earlier.position NOT IN (SELECT position FROM rollcall.removal)
          AND lower(earlier.email COLLATE "C") = lower(later.email COLLATE "C"))`,
  moveSignups: 'UPDATE rollcall.signup SET tab = $2 WHERE tab = $1',
  moveAccepted: `UPDATE rollcall.tab
                 SET accepted = accepted + (SELECT accepted FROM rollcall.tab WHERE id = $1)
                 WHERE id = $2`,
  deleteTab: 'DELETE FROM rollcall.tab WHERE id = $1',
  deleteProgress: 'DELETE FROM rollcall.progress WHERE tab = $1',
})

/** The name of the default tab: from the settings, or the one that was found out for its spreadsheet. */
export class PostgresDefaultTab {
  readonly #db: PostgresDatabase
  readonly #site: number
  readonly #policy: JournalPolicy
  #current: DefaultTab

  private constructor(db: PostgresDatabase, site: number, policy: JournalPolicy) {
    this.#db = db
    this.#site = site
    this.#policy = policy
    const { name, of } = policy.defaultTab
    this.#current = { name, isResolved: of === undefined }
  }

  /** Moves signups that an earlier process has left under `openKey`, if the tab has its final name now. */
  static async open(
    db: PostgresDatabase,
    site: number,
    policy: JournalPolicy,
  ): Promise<PostgresDefaultTab> {
    const tab = new PostgresDefaultTab(db, site, policy)
    const { name, isResolved } = await tab.now()
    if (isResolved && (await db.get(sql.tab, site, openKey))) {
      await tab.#locked((transaction) => tab.#close(transaction, name))
    }
    return tab
  }

  /** The name that this process knows. */
  get current(): DefaultTab {
    return this.#current
  }

  /** The keys of a default tab that the spreadsheet names; none when the settings name it. */
  get keys(): readonly string[] {
    return this.#policy.defaultTab.of === undefined ? [] : [openKey, tabKey(this.#current.name)]
  }

  /** The name of the fact that is there as soon as the tab has its final name. */
  get fact(): string {
    return `default tab of ${this.#policy.defaultTab.of ?? ''}`
  }

  /** The current name, after a look whether another process has resolved it. */
  async now(queries: Queries = this.#db): Promise<DefaultTab> {
    if (this.#current.isResolved) return this.#current
    const fact = await queries.get(sql.fact, this.#site, this.fact)
    if (fact) this.#current = { name: String(fact['value']), isResolved: true }
    return this.#current
  }

  async resolve(name: string): Promise<DefaultTab> {
    if (this.#current.isResolved) return this.#current
    const resolved = await this.#locked(async (transaction) => {
      const noted = await transaction.get(sql.fact, this.#site, this.fact)
      if (noted) return String(noted['value'])
      await transaction.run(sql.setFact, this.#site, this.fact, name)
      await this.#close(transaction, name)
      return name
    })
    return (this.#current = { name: resolved, isResolved: true })
  }

  /** Nobody adds signups, and nobody delivers any, meanwhile. */
  #locked<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#db.transaction(headLock, async (transaction) => {
      await transaction.all(...siteLock(this.#site))
      return work(transaction)
    })
  }

  /**
   * Gives the tab under `openKey` its final name, or moves its signups to the tab of that name. That
   * keeps their order: no batch can hold them or later ones, because `freeze` rejects until this is done.
   */
  async #close(transaction: Transaction, name: string): Promise<void> {
    const open = await transaction.get(sql.tab, this.#site, openKey)
    if (!open) return
    const id = Number(open['id'])
    const key = tabKey(name)
    const named = await transaction.get(sql.tab, this.#site, key)
    if (!named) {
      await transaction.run(sql.nameTab, key, name, id)
      return
    }
    const target = Number(named['id'])
    if (this.#policy.duplicates === 'ignore') {
      await transaction.run(sql.ignoreDuplicates, id, target)
    }
    await transaction.run(sql.moveSignups, id, target)
    await transaction.run(sql.moveAccepted, id, target)
    await transaction.run(sql.deleteTab, id)
    await transaction.run(sql.deleteProgress, id)
  }
}
