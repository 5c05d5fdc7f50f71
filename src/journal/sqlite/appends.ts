import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'

import type { Millis, Signup } from '../../signup/signup.ts'
import type {
  AppendResults,
  AppendTerms,
  Appended,
  Idempotency,
  OwnedKey,
  Recalled,
  SignupStatus,
} from '../intake-log.ts'
import { hourOf } from '../figures.ts'
import { addressHash, fingerprintHash, keyHash } from './secret.ts'
import { bytesOfId, idOfBytes } from './signup-id.ts'
import type { SqliteSite } from './site.ts'
import { signupsAtOnce } from './statements.ts'
import { SqliteTabs, type Tab } from './tabs.ts'

const minute = 60 * 1000
const hour = 60 * minute

/** The contract says 24 hours. The extra hour is for clocks that somebody corrects meanwhile. */
const keysKept = 25 * hour

/** Longer than any challenge token is valid. */
const tokensKept = 10 * minute

/** Each new key or token deletes up to two that are too old, so the tables shrink as they are used. */
const deletedAtOnce = 2

export interface AppendRequest {
  readonly signups: readonly Signup[]
  readonly terms: AppendTerms
}

/** Adds signups to the tables by the operator's policy, and finds the signups of an idempotency key. */
export class SqliteAppends {
  readonly #site: SqliteSite
  readonly #tabs: SqliteTabs
  // These four are in use within `write` only.
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
    this.#tabs = new SqliteTabs(site)
  }

  /** Appends a group in one transaction. Later requests of the group see the changes of earlier ones. */
  write(group: readonly AppendRequest[]): readonly Appended[] {
    try {
      const { db } = this.#site
      return db.transaction(() => {
        this.#position = Number(db.get('lastPosition')?.['position'] ?? 0)
        const answers = group.map((request) => this.#append(request))
        this.#addRows()
        for (const [tab, count] of this.#accepted) db.run('countAccepted', count, tab)
        for (const [hour, count] of this.#hours) db.run('countHour', this.#site.id, hour, count)
        return answers
      })
    } catch (error) {
      this.#rows = []
      this.#tabs.forget()
      throw error
    } finally {
      this.#accepted.clear()
      this.#hours.clear()
    }
  }

  knows(key: OwnedKey): boolean {
    return this.#keyed(key) !== undefined
  }

  takesTab(name: string, at: Millis, opener: string | undefined): boolean {
    return this.#tabs.wouldTake(name, at, opener)
  }

  recall(idempotency: Idempotency): Recalled | undefined {
    const known = this.#keyed(idempotency)
    if (!known) return undefined
    const fingerprint = fingerprintHash(this.#site.secret, idempotency.fingerprint)
    if (known['fingerprint'] !== fingerprint) return { kind: 'mismatch' }
    this.#addRows()
    const results: (SignupStatus | undefined)[] = this.#site.db
      .all('signupsBetween', Number(known['first']), Number(known['last']))
      .map(toStatus)
    for (const place of readPlaces(String(known['refused']))) results.splice(place, 0, undefined)
    return { kind: 'replayed', results }
  }

  #keyed(owned: OwnedKey) {
    const { db, id, secret } = this.#site
    return db.get('idempotencyKey', id, '', keyHash(secret, owned))
  }

  #append({ signups, terms }: AppendRequest): Appended {
    const { idempotency, token, opener } = terms
    const recalled = idempotency && this.recall(idempotency)
    if (recalled) return recalled
    if (token !== undefined && this.#site.db.get('usedToken', token)) return { kind: 'tokenUsed' }
    const results = signups.map((signup) => this.#insert(signup, opener))
    const first = results.find((result) => result !== undefined)
    if (first && idempotency) this.#rememberKey(idempotency, results, first.receivedAt)
    if (first && token !== undefined) this.#rememberToken(token, first.receivedAt)
    return { kind: 'appended', results }
  }

  #insert(signup: Signup, opener: string | undefined): SignupStatus | undefined {
    const { id, sheetTab, receivedAt, email, source, name, tags, metadata } = signup
    const tab = this.#tabs.take(sheetTab, receivedAt, opener)
    if (!tab) return undefined
    const tagsText = tags.length === 0 ? '' : JSON.stringify(tags)
    const isIgnored = Number(this.#site.policy.duplicates === 'ignore' && this.#isKnown(tab, email))
    const position = (this.#position += 1)
    const texts = [email, source, name, tagsText, metadata]
    this.#accepted.set(tab.id, (this.#accepted.get(tab.id) ?? 0) + 1)
    const inHour = hourOf(receivedAt)
    this.#hours.set(inHour, (this.#hours.get(inHour) ?? 0) + 1)
    this.#rows.push([position, bytesOfId(id), tab.id, receivedAt, ...texts, isIgnored])
    return { id, sheetTab: tab.name, receivedAt, position, ...(tab.isOpen && { isTabOpen: true }) }
  }

  #isKnown(tab: Tab, email: string): boolean {
    this.#addRows()
    const { db, id, secret } = this.#site
    // Earlier signups of a forgotten person do not count, erased or not.
    const hash = addressHash(secret, email)
    const forgotten = Number(db.get('tombstone', id, hash)?.['upto'] ?? 0)
    return db.get('sameAddress', tab.id, email, forgotten) !== undefined
  }

  /** Moves the waiting rows into the table. */
  #addRows(): void {
    const { db } = this.#site
    const rows = this.#rows
    this.#rows = []
    const whole = rows.length - (rows.length % signupsAtOnce)
    for (let at = 0; at < whole; at += signupsAtOnce) {
      db.run('addSignups', ...rows.slice(at, at + signupsAtOnce).flat())
    }
    for (const row of rows.slice(whole)) db.run('addSignup', ...row)
  }

  #rememberKey(idempotency: Idempotency, results: AppendResults, at: Millis): void {
    const positions = results.flatMap((result) => (result ? [result.position] : []))
    const [first = 0] = positions
    const last = positions.at(-1) ?? first
    const places = results.flatMap((result, place) => (result ? [] : [place]))
    const refused = places.length === 0 ? '' : JSON.stringify(places)
    const { db, id, secret } = this.#site
    // Hashes, because a key may be an address, and a fingerprint could be guessed from one.
    const key = keyHash(secret, idempotency)
    const fingerprint = fingerprintHash(secret, idempotency.fingerprint)
    db.run('addIdempotencyKey', id, '', key, fingerprint, first, last, refused, at)
    db.run('deleteIdempotencyKeys', at - keysKept, deletedAtOnce)
  }

  #rememberToken(token: string, at: Millis): void {
    const { db } = this.#site
    db.run('addUsedToken', token, at)
    db.run('deleteUsedTokens', at - tokensKept, deletedAtOnce)
  }
}

export function toStatus(row: Record<string, SQLOutputValue>): SignupStatus {
  const writtenAt = row['writtenAt']
  return {
    id: idOfBytes(row['id'] as Uint8Array),
    position: Number(row['position']),
    sheetTab: String(row['sheetTab']),
    receivedAt: Number(row['receivedAt']),
    ...(row['isTabOpen'] === 1 && { isTabOpen: true }),
    ...(writtenAt === null ? {} : { writtenAt: Number(writtenAt) }),
  }
}

function readPlaces(text: string): readonly number[] {
  return text === '' ? [] : (JSON.parse(text) as number[])
}
