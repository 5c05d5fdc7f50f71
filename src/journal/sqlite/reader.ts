import type { Millis } from '../../signup/signup.ts'
import type { Reader, SignupRecord } from '../reader.ts'
import { toSignup } from './rows.ts'
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
      const waiting = db.all('firstWaiting', id).filter(({ key }) => !aside.has(String(key)))
      if (waiting.length === 0) return undefined
      const received = waiting.map(({ receivedAt }) => Number(receivedAt))
      return Math.max(Number(db.get('lastSettled', id)?.['at']), Math.min(...received))
    })
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

  async probe(): Promise<void> {
    const { db, id } = this.#site
    // Use a new value each time, because SQLite does not write an unchanged page.
    await db.write(() => db.run('setFact', id, 'probed', crypto.randomUUID()))
  }
}
