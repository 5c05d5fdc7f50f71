import type { SQLInputValue } from 'node:sqlite'

import { fieldsText } from '../../signup/fields-text.ts'
import type { Signup } from '../../signup/signup.ts'
import { hourOf } from '../contracts/figures.ts'
import { bytesOfId } from './signup-id.ts'
import type { SqliteSite } from './site.ts'
import { signupsAtOnce } from './statements.ts'

/** Adds one site's signups to the tables and counts them. */
export class NewSignups {
  readonly #site: SqliteSite
  // These four are in use in `within` only.
  /** Rows that have a position and are not in the table yet. */
  #rows: SQLInputValue[][] = []
  /** How many signups each tab has got. */
  readonly #accepted = new Map<number, number>()
  /** How many signups each hour has got. */
  readonly #hours = new Map<number, number>()
  /** The position of the last signup. */
  #position = 0

  constructor(site: SqliteSite) {
    this.#site = site
  }

  /** Puts what `work` adds into the tables. To call within a transaction. */
  within<T>(work: () => T): T {
    try {
      const { db, id } = this.#site
      this.#position = Number(db.get('lastPosition')?.['position'] ?? 0)
      const result = work()
      this.addRows()
      for (const [tab, count] of this.#accepted) db.run('countAccepted', count, tab)
      for (const [hour, count] of this.#hours) db.run('countHour', id, hour, count)
      return result
    } catch (error) {
      this.#rows = []
      throw error
    } finally {
      this.#accepted.clear()
      this.#hours.clear()
    }
  }

  /** The position of the last signup in the journal, with those of this transaction. */
  get lastPosition(): number {
    return this.#position
  }

  /** Adds a signup to a tab, and returns its position. */
  add(signup: Signup, tab: number, { isIgnored = false } = {}): number {
    const { id, receivedAt, email, source, name, tags, metadata, fields } = signup
    const tagsText = tags.length === 0 ? '' : JSON.stringify(tags)
    const position = (this.#position += 1)
    const texts = [email, source, name, tagsText, metadata, fieldsText(fields)]
    this.#accepted.set(tab, (this.#accepted.get(tab) ?? 0) + 1)
    const inHour = hourOf(receivedAt)
    this.#hours.set(inHour, (this.#hours.get(inHour) ?? 0) + 1)
    this.#rows.push([position, bytesOfId(id), tab, receivedAt, ...texts, Number(isIgnored)])
    return position
  }

  /** Moves the added rows into the table, so that statements find them. */
  addRows(): void {
    const { db } = this.#site
    const rows = this.#rows
    this.#rows = []
    const whole = rows.length - (rows.length % signupsAtOnce)
    for (let at = 0; at < whole; at += signupsAtOnce) {
      db.run('addSignups', ...rows.slice(at, at + signupsAtOnce).flat())
    }
    for (const row of rows.slice(whole)) db.run('addSignup', ...row)
  }
}
