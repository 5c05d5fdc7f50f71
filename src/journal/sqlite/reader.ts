import type { SQLOutputValue } from 'node:sqlite'

import { timeOfId } from '../../signup/id.ts'
import type { Millis } from '../../signup/signup.ts'
import { beginOf, type Counts, type Figures, hourOf } from '../contracts/figures.ts'
import type { Reader, SignupRecord } from '../contracts/reader.ts'
import { toSignup } from './rows.ts'
import { idOfBytes } from './signup-id.ts'
import type { SqliteSite } from './site.ts'

export class SqliteReader implements Reader {
  readonly #site: Pick<SqliteSite, 'db' | 'id'>

  constructor(site: Pick<SqliteSite, 'db' | 'id'>) {
    this.#site = site
  }

  async backlog(): Promise<number> {
    const { db, id } = this.#site
    return db.read(() => Number(db.get('backlog', id)?.['count']))
  }

  async waitingSince(asideTabs: readonly string[]): Promise<Millis | undefined> {
    const { db, id } = this.#site
    const aside = new Set(asideTabs)
    return db.read(() => {
      const waiting = this.#firstWaiting().filter(({ key }) => !aside.has(key))
      if (waiting.length === 0) return undefined
      const since = waiting.map(({ since }) => since)
      return Math.max(Number(db.get('lastSettled', id)?.['at']), Math.min(...since))
    })
  }

  async figures(from: Millis, to: Millis): Promise<Figures> {
    const { db, id } = this.#site
    return db.snapshot(() => {
      const all = countsOf(db.get('totals', id))
      const hours = db
        .all('hours', id, hourOf(from), hourOf(to))
        .map((row) => ({ from: beginOf(Number(row['hour'])), ...countsOf(row) }))
      const waiting = this.#firstWaiting().map(({ since }) => since)
      const oldestWaiting = waiting.length === 0 ? undefined : Math.min(...waiting)
      const lastWritten = Number(db.get('lastSettled', id)?.['at'] ?? 0) || undefined
      return { all, hours, oldestWaiting, lastWritten }
    })
  }

  async callsSince(account: string, after: Millis): Promise<number> {
    const { db } = this.#site
    return db.read(() => Number(db.get('callsSince', account, after)?.['count']))
  }

  async fact(name: string): Promise<string | undefined> {
    const { db, id } = this.#site
    const row = db.read(() => db.get('fact', id, name))
    return row && String(row['value'])
  }

  async page(after: number, max: number): Promise<readonly SignupRecord[]> {
    const { db, id } = this.#site
    return db.read(() =>
      db.all('signupsAfter', after, id, max).map((row) => ({
        position: Number(row['position']),
        signup: toSignup(row, String(row['sheetTab'])),
      })),
    )
  }

  /** The first waiting signup of each tab, and the first one that is to be delivered once more. */
  #firstWaiting() {
    const { db, id } = this.#site
    // An imported signup may have an old timestamp, but its id has the time when it came.
    const first = db.all('firstWaiting', id).map((row) => ({
      key: String(row['key']),
      since: timeOfId(idOfBytes(row['id'] as Uint8Array)),
    }))
    const again = db.all('firstAgain', id).map((row) => ({
      key: String(row['key']),
      since: Number(row['receivedAt']),
    }))
    return [...first, ...again]
  }

  async probe(): Promise<void> {
    const { db, id } = this.#site
    // Use a new value each time, because SQLite does not write an unchanged page.
    await db.write(() => db.run('setFact', id, 'probed', crypto.randomUUID()))
  }
}

function countsOf(row: Record<string, SQLOutputValue> | undefined): Counts {
  return { accepted: Number(row?.['accepted']), written: Number(row?.['written']) }
}
