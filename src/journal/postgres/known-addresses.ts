import { TemporaryTables } from '../temporary-tables.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

/** How many positions are read at once. */
const learnedAtOnce = 20_000

const sql = statementsOf('known addresses', {
  last: 'SELECT position FROM rollcall.head',
  // In order, because they are added to the table faster so.
  part: `
    SELECT tab.key, lower(email COLLATE "C") AS email
    FROM rollcall.signup JOIN rollcall.tab ON tab.id = signup.tab
    WHERE position > $1 AND position <= $2 AND tab.site = $3 AND email <> ''
      AND NOT EXISTS (SELECT 1 FROM rollcall.removal WHERE removal.position = signup.position)
    ORDER BY tab.id, lower(email COLLATE "C")`,
})

const tables = `
  CREATE TABLE known_address (
    tab INTEGER NOT NULL, email TEXT NOT NULL, PRIMARY KEY (tab, email)
  ) STRICT, WITHOUT ROWID`

const statements = {
  has: 'SELECT 1 FROM known_address WHERE tab = ? AND email = ?',
  learn: 'INSERT OR IGNORE INTO known_address VALUES (?, ?)',
} as const

/** The addresses that each tab has, by the tab's key, in a temporary file of this process. */
export class KnownAddresses implements Disposable {
  readonly #site: PostgresSite
  #tables: TemporaryTables<keyof typeof statements> | undefined
  /** Numbers that stand for the keys of tabs. */
  readonly #tabs = new Map<string, number>()
  #upto = 0
  #isTabResolved: boolean | undefined

  constructor(site: PostgresSite) {
    this.#site = site
  }

  [Symbol.dispose](): void {
    this.#tables?.[Symbol.dispose]()
    this.#tables = undefined
  }

  /** The addresses of signups up to this position are known. */
  get upto(): number {
    return this.#upto
  }

  /** Whether `catchUp` was called, and no signups have moved to another tab since. */
  get isCurrent(): boolean {
    return this.#isTabResolved === this.#site.defaultTab.current.isResolved
  }

  /** Learns what all instances have committed so far, part by part. */
  async catchUp(): Promise<void> {
    const { db, id, defaultTab } = this.#site
    await defaultTab.now()
    if (!this.isCurrent) this.#begin()
    const last = Number((await db.get(sql.last))?.['position'])
    while (this.#upto < last) {
      const upto = Math.min(last, this.#upto + learnedAtOnce)
      const rows = await db.all(sql.part, this.#upto, upto, id)
      for (const { key, email } of rows) this.learn(String(key), String(email))
      this.#upto = upto
    }
  }

  has(tabKey: string, email: string): boolean {
    const values = [this.#tab(tabKey), email.toLowerCase()]
    return (this.#tables?.all('has', ...values) ?? []).length > 0
  }

  /** Notes an address. Returns false when the tab has it already. */
  learn(tabKey: string, email: string): boolean {
    return (this.#tables?.run('learn', this.#tab(tabKey), email.toLowerCase()) ?? 0) > 0
  }

  /** To call when all signups up to this position have been learned. */
  keep(upto: number): void {
    this.#upto = upto
  }

  /** Signups without a tab move once, when the default tab gets its name. */
  #begin(): void {
    this[Symbol.dispose]()
    this.#tables = new TemporaryTables(tables, statements)
    this.#upto = 0
    this.#isTabResolved = this.#site.defaultTab.current.isResolved
  }

  #tab(key: string): number {
    const number = this.#tabs.get(key) ?? this.#tabs.size
    this.#tabs.set(key, number)
    return number
  }
}
