import type { SQLOutputValue } from 'node:sqlite'

import type { Millis, Signup } from '../../signup/signup.ts'
import { addedBy } from '../commit.ts'
import { addressHash, fingerprintHash, keyHash } from '../hashes.ts'
import type {
  AppendResults,
  AppendTerms,
  Appended,
  Idempotency,
  OwnedKey,
  Recalled,
  SignupStatus,
} from '../contracts/intake-log.ts'
import { keysKept, tokensKept } from '../kept-times.ts'
import type { SqliteDatabase } from './database.ts'
import { NewSignups } from './new-signups.ts'
import { idOfBytes } from './signup-id.ts'
import type { SqliteSite } from './site.ts'
import { SqliteTabs, type Tab } from './tabs.ts'

export interface AppendRequest {
  /** The site that the request is for. */
  readonly site: SqliteAppends
  readonly signups: readonly Signup[]
  readonly terms: AppendTerms
}

/**
 * Appends a group of requests in one transaction, whatever sites they are for. Later requests for a site
 * see the changes of earlier ones.
 *
 * @throws JournalBusy while another process writes
 */
export function appendGroup(
  db: Pick<SqliteDatabase, 'transaction'>,
  group: readonly AppendRequest[],
): readonly Appended[] {
  const parts = [...Map.groupBy(group, ({ site }) => site)]
  const answers = writeParts(db, parts)
  parts.forEach(([site], index) => site.tell(answers[index] ?? []))
  if (parts.length === 1) return answers[0] ?? []
  const answerOf = new Map(
    parts.flatMap(([, requests], part) =>
      requests.map((request, index) => [request, answers[part]?.[index]] as const),
    ),
  )
  return group.flatMap((request) => answerOf.get(request) ?? [])
}

type Part = readonly [SqliteAppends, readonly AppendRequest[]]

function writeParts(
  db: Pick<SqliteDatabase, 'transaction'>,
  parts: readonly Part[],
): readonly (readonly Appended[])[] {
  try {
    return db.transaction(() => parts.map(([site, requests]) => site.write(requests)))
  } catch (error) {
    for (const [site] of parts) site.forget()
    throw error
  }
}

/** Adds signups of one site to the tables by its policy, and finds the signups of an idempotency key. */
export class SqliteAppends {
  readonly #site: SqliteSite
  readonly #tabs: SqliteTabs
  readonly #signups: NewSignups
  /** How many signups of the present request get no row. */
  #duplicates = 0

  constructor(site: SqliteSite) {
    this.#site = site
    this.#tabs = new SqliteTabs(site)
    this.#signups = new NewSignups(site)
  }

  /** Adds the signups of these requests. To call within a transaction. */
  write(requests: readonly AppendRequest[]): readonly Appended[] {
    return this.#signups.within(() => requests.map((request) => this.#append(request)))
  }

  /** To call when the transaction was rolled back. */
  forget(): void {
    this.#tabs.forget()
  }

  /** To call with the answers when the transaction was committed. */
  tell(answers: readonly Appended[]): void {
    const added = addedBy(answers)
    if (added > 0) this.#site.appended.tell(added)
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
    this.#signups.addRows()
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
    this.#duplicates = 0
    const results = signups.map((signup) => this.#insert(signup, opener))
    const first = results.find((result) => result !== undefined)
    if (first && idempotency) this.#rememberKey(idempotency, results, first.receivedAt)
    if (first && token !== undefined) this.#rememberToken(token, first.receivedAt)
    const duplicates = this.#duplicates
    return { kind: 'appended', results, ...(duplicates > 0 && { duplicates }) }
  }

  #insert(signup: Signup, opener: string | undefined): SignupStatus | undefined {
    const { id, sheetTab, receivedAt, email } = signup
    const tab = this.#tabs.take(sheetTab, receivedAt, opener)
    if (!tab) return undefined
    const isIgnored = this.#site.policy.duplicates === 'ignore' && this.#isKnown(tab, email)
    if (isIgnored) this.#duplicates += 1
    const position = this.#signups.add(signup, tab.id, { isIgnored })
    return { id, sheetTab: tab.name, receivedAt, position, ...(tab.isOpen && { isTabOpen: true }) }
  }

  #isKnown(tab: Tab, email: string): boolean {
    this.#signups.addRows()
    const { db, id, secret } = this.#site
    // Earlier signups of a forgotten person do not count, erased or not.
    const hash = addressHash(secret, email)
    const forgotten = Number(db.get('tombstone', id, hash)?.['upto'] ?? 0)
    const isThere = db.get('sameAddress', tab.id, email, forgotten) !== undefined
    return isThere || db.get('keptAddress', tab.id, hash) !== undefined
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
    db.run('deleteIdempotencyKeys', at - keysKept)
  }

  #rememberToken(token: string, at: Millis): void {
    const { db } = this.#site
    db.run('addUsedToken', token, at)
    db.run('deleteUsedTokens', at - tokensKept)
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
