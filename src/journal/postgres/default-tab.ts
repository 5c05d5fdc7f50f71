import { tabKey } from '../../signup/signup.ts'
import type { DefaultTab } from '../contracts/intake-log.ts'
import type { JournalPolicy } from '../contracts/policy.ts'
import type { PostgresDatabase, Queries, Transaction } from './database.ts'
import { headLock, siteLock } from './locks.ts'
import { isBehind } from './rows.ts'
import { statementsOf } from './statement.ts'

/** Key of the default tab until it is resolved. No signup can name a tab with this key. */
export const openKey = ''

/** How many positions are looked through at once. That takes a fifth of a second. */
const slicePositions = 20_000

const sql = statementsOf('default tab', {
  fact: 'SELECT value FROM rollcall.fact WHERE site = $1 AND name = $2',
  setFact: 'INSERT INTO rollcall.fact (site, name, value) VALUES ($1, $2, $3)',
  tab: 'SELECT id FROM rollcall.tab WHERE site = $1 AND key = $2',
  nameTab: 'UPDATE rollcall.tab SET key = $1, name = $2 WHERE id = $3',
  first: `SELECT position FROM rollcall.signup WHERE ${isBehind('$1::integer', '0')}
          ORDER BY tab, position LIMIT 1`,
  last: 'SELECT position FROM rollcall.head',
  // The next four are about the signups of $1 from the position $3 to $4, which move to $2. First, those
  // are marked that become duplicates by the move, and those that they make duplicates.
  ignoreMoved: `
    UPDATE rollcall.signup AS moved SET is_ignored = 1
    WHERE tab = $1 AND position BETWEEN $3 AND $4 AND email <> ''
      AND EXISTS (
        SELECT 1 FROM rollcall.signup AS earlier
        WHERE earlier.tab + 0 IN ($1, $2) AND earlier.position + 0 < moved.position
          AND NOT EXISTS (SELECT 1 FROM rollcall.removal WHERE removal.position = earlier.position)
          AND lower(earlier.email COLLATE "C") = lower(moved.email COLLATE "C"))`,
  ignoreLater: `
    UPDATE rollcall.signup AS later SET is_ignored = 1
    FROM rollcall.signup AS moved
    WHERE moved.tab = $1 AND moved.position BETWEEN $3 AND $4 AND moved.email <> ''
      AND NOT EXISTS (SELECT 1 FROM rollcall.removal WHERE removal.position = moved.position)
      AND later.tab + 0 = $2 AND later.position + 0 > moved.position
      AND lower(later.email COLLATE "C") = lower(moved.email COLLATE "C")`,
  // Another instance, with other settings, may have delivered later signups already.
  queueOvertaken: `
    INSERT INTO rollcall.redelivery (tab, position, queued_at)
    SELECT $2, position, received_at FROM rollcall.signup
    WHERE tab = $1 AND position BETWEEN $3 AND $4 AND is_ignored = 0 AND email <> ''
      AND position + 0 <= (SELECT written_to FROM rollcall.progress WHERE tab = $2)
    ON CONFLICT DO NOTHING`,
  moveSignups: 'UPDATE rollcall.signup SET tab = $2 WHERE tab = $1 AND position BETWEEN $3 AND $4',
  moveAccepted: `UPDATE rollcall.tab SET accepted = accepted + CASE id WHEN $2 THEN $3::bigint ELSE -$3::bigint END
                 WHERE id IN ($1, $2)`,
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
      while (!(await tab.#locked((transaction) => tab.#close(transaction, name))));
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
    let resolved: string | undefined
    while (resolved === undefined) {
      resolved = await this.#locked(async (transaction) => {
        const noted = await transaction.get(sql.fact, this.#site, this.fact)
        if (noted) return String(noted['value'])
        if (!(await this.#close(transaction, name))) return undefined
        await transaction.run(sql.setFact, this.#site, this.fact, name)
        return name
      })
    }
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
   * Gives the tab under `openKey` its final name, or moves its signups to the tab of that name, a slice at
   * a time. That keeps their order: no batch can hold them or later ones, because `freeze` rejects until
   * this is done. Returns whether it is.
   */
  async #close(transaction: Transaction, name: string): Promise<boolean> {
    const open = await transaction.get(sql.tab, this.#site, openKey)
    if (!open) return true
    const id = Number(open['id'])
    const key = tabKey(name)
    const named = await transaction.get(sql.tab, this.#site, key)
    if (!named) {
      await transaction.run(sql.nameTab, key, name, id)
      return true
    }
    const first = await transaction.get(sql.first, id)
    if (first) {
      const from = Number(first['position'])
      const upto = from + slicePositions - 1
      const slice = [id, Number(named['id']), from, upto] as const
      if (this.#policy.duplicates === 'ignore') {
        await transaction.run(sql.ignoreMoved, ...slice)
        await transaction.run(sql.ignoreLater, ...slice)
      }
      await transaction.run(sql.queueOvertaken, ...slice)
      const moved = await transaction.run(sql.moveSignups, ...slice)
      await transaction.run(sql.moveAccepted, id, Number(named['id']), moved)
      const last = await transaction.get(sql.last)
      if (upto < Number(last?.['position'])) return false
    }
    await transaction.run(sql.deleteTab, id)
    await transaction.run(sql.deleteProgress, id)
    return true
  }
}
