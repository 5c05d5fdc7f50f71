import type { Millis } from '../../signup/signup.ts'
import { addressHash } from '../hashes.ts'
import { expiredFact, type Retention } from '../contracts/retention.ts'
import { eraseForgotten, isForgotten, noteCopies } from './erase.ts'
import type { SqliteSite } from './site.ts'

export class SqliteRetention implements Retention {
  readonly #site: SqliteSite

  constructor(site: SqliteSite) {
    this.#site = site
  }

  async expire(writtenBefore: Millis): Promise<boolean> {
    const { db, id } = this.#site
    const batch = db.read(() => db.get('unexpiredBatch', id, writtenBefore))
    if (!batch) return false
    const number = Number(batch['number'])
    const found = db.read(() => db.all('expirable', number))
    await db.write(() => {
      if (found.length > 0) noteCopies(this.#site)
      for (const row of found) {
        const [position, email] = [Number(row['position']), String(row['email'])]
        if (isForgotten(this.#site, position, email)) {
          eraseForgotten(this.#site, position)
          continue
        }
        // Another process may have put the signup back into the pending work since.
        if (db.run('expireSignup', position, number) > 0) this.#keepHash(Number(row['tab']), email)
      }
      if (found.length > 0) return
      db.run('expireBatch', number)
      db.run('setFact', id, expiredFact, String(batch['settledAt']))
    })
    return true
  }

  #keepHash(tab: number, email: string): void {
    const { db, policy, secret } = this.#site
    if (policy.duplicates === 'ignore') db.run('keepAddress', tab, addressHash(secret, email))
  }
}

/** Whether an expired signup of this tab had this address. */
export function keptAddress({ db, secret }: SqliteSite, tab: number, email: string): boolean {
  // Most journals keep no hash, and a hash costs more than this look.
  if (!db.get('anyKeptAddress', tab)) return false
  return db.get('keptAddress', tab, addressHash(secret, email)) !== undefined
}
