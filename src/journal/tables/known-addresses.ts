import { TemporaryTables } from '../../platform/node/temporary-tables.ts'
import { statementsOf } from '../sql.ts'
import { rowStatus } from './layout.ts'
import { findLast, positionIn } from './rows.ts'
import type { Site } from './site.ts'

/** How many positions are read at once. That takes three milliseconds, and no lock that others wait for. */
const learnedAtOnce = 1_000

const sql = statementsOf('known addresses', ({ lower }) => ({
  // In order, because they are added to the table faster so.
  part: `
    SELECT tab.key, ${lower('email')} AS email
    FROM signup JOIN tab ON tab.id = signup.tab
    WHERE position > $1 AND position <= $2 AND tab.site = $3 AND email <> '' AND row_status <> ${rowStatus.held}
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

  constructor(site: Site) {
    this.#site = site
  }

  [Symbol.dispose](): void {
    this.#tables?.[Symbol.dispose]()
    this.#tables = undefined
  }

  /** Whether `catchUp` was called. */
  get isCurrent(): boolean {
    return this.#tables !== undefined
  }

  /** Learns what all processes have committed so far, part by part. */
  async catchUp(): Promise<void> {
    const { db, id } = this.#site
    this.#tables ??= new TemporaryTables(tables, statements)
    const [head] = await db.query(findLast)
    const last = positionIn(head)
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
