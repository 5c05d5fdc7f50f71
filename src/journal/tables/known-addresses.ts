import { TemporaryTables } from '../../platform/node/temporary-tables.ts'
import { statementsOf } from '../sql.ts'
import type { Site } from './site.ts'

/** How many positions are read at once. That takes about 50 ms, and no lock that others wait for. */
const learnedAtOnce = 20_000

const sql = statementsOf('known addresses', ({ lower, lastPosition }) => ({
  last: `SELECT ${lastPosition} AS position`,
  // In order, because they are added to the table faster so.
  part: `
    SELECT tab.key, ${lower('email')} AS email
    FROM signup JOIN tab ON tab.id = signup.tab
    WHERE position > $1 AND position <= $2 AND tab.site = $3 AND email <> ''
      AND NOT EXISTS (SELECT 1 FROM removal WHERE removal.position = signup.position)
    ORDER BY tab.id, ${lower('email')}`,
}))

const tables = `
  CREATE TABLE known_address (
    tab INTEGER NOT NULL, email TEXT NOT NULL, PRIMARY KEY (tab, email)
  ) STRICT, WITHOUT ROWID`

const statements = {
  has: 'SELECT 1 FROM known_address WHERE tab = ? AND email = lower(?)',
  learn: 'INSERT OR IGNORE INTO known_address VALUES (?, lower(?))',
} as const

/**
 * The addresses that each tab has, by the tab's key, in a temporary file of this process: a table of SQLite,
 * whichever engine has the journal. An index of the journal would make every append slower.
 */
export class KnownAddresses implements Disposable {
  /** The addresses of signups up to this position are known. */
  upto = 0
  readonly #site: Site
  #tables: TemporaryTables<keyof typeof statements> | undefined
  /** Numbers that stand for the keys of tabs. */
  readonly #tabs = new Map<string, number>()
  #isTabResolved: boolean | undefined

  constructor(site: Site) {
    this.#site = site
  }

  [Symbol.dispose](): void {
    this.#tables?.[Symbol.dispose]()
    this.#tables = undefined
  }

  /** Whether `catchUp` was called, and no signups have moved to another tab since. */
  get isCurrent(): boolean {
    return this.#isTabResolved === this.#site.defaultTab.current.isResolved
  }

  /** Learns what all processes have committed so far, part by part. */
  async catchUp(): Promise<void> {
    const { db, id, defaultTab } = this.#site
    await defaultTab.latest()
    if (!this.isCurrent) {
      // Signups without a tab move once, when the default tab gets its name.
      this[Symbol.dispose]()
      this.#tables = new TemporaryTables(tables, statements)
      this.upto = 0
      this.#isTabResolved = defaultTab.current.isResolved
    }
    const [{ rows: found }] = await db.query([sql.last])
    const last = Number(found[0]?.['position'])
    while (this.upto < last) {
      const upto = Math.min(last, this.upto + learnedAtOnce)
      const [{ rows }] = await db.query([sql.part, this.upto, upto, id])
      for (const { key, email } of rows) this.learn(String(key), String(email))
      this.upto = upto
      // An engine may answer without a turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Whether the tab has this address. */
  has(tabKey: string, email: string): boolean {
    return this.#tables?.has('has', this.#tab(tabKey), email) ?? false
  }

  /** Notes an address. */
  learn(tabKey: string, email: string): void {
    this.#tables?.run('learn', this.#tab(tabKey), email)
  }

  #tab(key: string): number {
    const known = this.#tabs.get(key)
    if (known !== undefined) return known
    this.#tabs.set(key, this.#tabs.size)
    return this.#tabs.size - 1
  }
}
