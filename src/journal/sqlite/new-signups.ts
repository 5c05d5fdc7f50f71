import type { SQLInputValue } from 'node:sqlite'
import { fieldsText } from '../../signup/field.ts'
import type { Signup } from '../../signup/signup.ts'
import { personOf } from '../hashes.ts'
import { rowStatus, signupTable } from '../tables/layout.ts'
import { bytesOfId, findLast, positionIn } from '../tables/rows.ts'
import { stepToCountSeats } from '../tables/seats.ts'
import { hourOf, stepToCount } from '../tables/tally.ts'
import { statementsOf } from '../sql.ts'
import type { SqliteDatabase } from './database.ts'

/** How many signups one statement adds. That takes a quarter less time than one statement for each. */
const signupsAtOnce = 32

/** All but that of a confirmation, which comes later than an append. */
const columns = Object.keys(signupTable.columns).filter((name) => name !== 'confirmed_at')

const sql = statementsOf('sqlite new signups', {
  add: addingSignups(1),
  addMany: addingSignups(signupsAtOnce),
  countInTab: 'UPDATE tab SET accepted = accepted + $1 WHERE id = $2',
})

function addingSignups(count: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`
  return `INSERT INTO signup (${columns.join(', ')}) VALUES ${Array(count).fill(row).join(', ')}`
}

/** Adds signups to the tables and counts them, within one transaction. `finish` ends it. */
export class NewSignups {
  readonly #db: SqliteDatabase
  /** The values of signups that have a position and are not in the table yet, one after the other. */
  readonly #values: SQLInputValue[] = []
  /** How many signups each tab has got. */
  readonly #accepted = new Map<number, number>()
  /** How many of each site take no seat. */
  readonly #seatless = new Map<number, number>()
  /** How many signups each site has got in each hour. */
  readonly #hours = new Map<number, Map<number, number>>()
  /** The position of the last signup. */
  #position: number

  constructor(db: SqliteDatabase) {
    this.#db = db
    this.#position = positionIn(db.runStep(findLast))
  }

  /**
   * Adds a signup to a tab of a site, with one of `rowStatus`. Returns its position. Figures do not count a
   * held one as accepted.
   *
   * @param hash as `Site.hashOf`
   * @param isBeyond whether that is the overflow tab
   */
  add(
    site: number,
    tab: number,
    signup: Signup,
    hash: string | null,
    status: number = rowStatus.wanted,
    isBeyond = false,
  ): number {
    const { id, receivedAt, email, source, name, tags, metadata, fields } = signup
    const tagsText = tags.length === 0 ? '' : JSON.stringify(tags)
    const position = (this.#position += 1)
    // In the order of the columns.
    this.#values.push(position, bytesOfId(id), tab, receivedAt, email, source, name, tagsText)
    this.#values.push(metadata, status, fieldsText(fields), personOf(hash))
    count(this.#accepted, tab)
    if (status === rowStatus.held) return position
    if (isBeyond || status === rowStatus.none) count(this.#seatless, site)
    const hours = this.#hours.get(site) ?? new Map<number, number>()
    this.#hours.set(site, hours)
    count(hours, hourOf(receivedAt))
    return position
  }

  /** Moves the added signups into the table, so that statements find them. */
  addRows(): void {
    const values = this.#values.splice(0)
    const one = columns.length
    const many = signupsAtOnce * one
    let at = 0
    for (; at + many <= values.length; at += many)
      this.#db.run(sql.addMany, values.slice(at, at + many))
    for (; at < values.length; at += one) this.#db.run(sql.add, values.slice(at, at + one))
  }

  finish(): void {
    this.addRows()
    for (const [tab, added] of this.#accepted) this.#db.runStep([sql.countInTab, added, tab])
    for (const [site, added] of this.#seatless)
      this.#db.runStep(stepToCountSeats(site, 'seatless', added))
    for (const [site, hours] of this.#hours) {
      for (const [hour, added] of hours)
        this.#db.runStep(stepToCount(site, 'accepted', hour, added))
    }
  }
}

function count(counts: Map<number, number>, key: number): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
