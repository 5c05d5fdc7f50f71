import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'

import type { Millis, Signup, SignupId } from '../../signup/signup.ts'
import type {
  AppendResults,
  AppendTerms,
  Appended,
  Idempotency,
  OwnedKey,
  Recalled,
  SignupStatus,
} from '../intake-log.ts'
import type { JournalPolicy } from '../policy.ts'
import { signupsAtOnce } from './schema.ts'
import type { SqliteDatabase } from './database.ts'
import type { SqliteDefaultTab } from './default-tab.ts'
import { SqliteTabs, type Tab } from './tabs.ts'

const minute = 60 * 1000
const hour = 60 * minute

/** The contract says 24 hours; an hour more, for clocks that are set right meanwhile. */
const keysKept = 25 * hour

/** Longer than any challenge token lives. */
const tokensKept = 10 * minute

/** Keys and tokens that are too old are deleted as new ones come, faster than they come. */
const deletedAtOnce = 2

export interface AppendRequest {
  readonly signups: readonly Signup[]
  readonly terms: AppendTerms
}

/** Puts signups into the tables, by the operator's policy, and knows what was put there by which key. */
export class SqliteAppends {
  readonly #db: SqliteDatabase
  readonly #policy: JournalPolicy
  readonly #tabs: SqliteTabs
  /** Rows that were given their positions, and are not in the table yet. Empty outside of `write`. */
  #rows: SQLInputValue[][] = []
  /** The last one that was given away, within `write`. */
  #position = 0

  constructor(db: SqliteDatabase, policy: JournalPolicy, defaultTab: SqliteDefaultTab) {
    this.#db = db
    this.#policy = policy
    this.#tabs = new SqliteTabs(db, policy, defaultTab)
  }

  /** One transaction for a whole group; a later request of the group sees what an earlier one did. */
  write(group: readonly AppendRequest[]): readonly Appended[] {
    this.#tabs.begin()
    try {
      return this.#db.transaction(() => {
        this.#position = Number(this.#db.get('lastPosition')?.['position'] ?? 0)
        const answers = group.map((request) => this.#append(request))
        this.#addRows()
        return answers
      })
    } catch (error) {
      this.#rows = []
      this.#tabs.undo()
      throw error
    }
  }

  knows({ space, key }: OwnedKey): boolean {
    return this.#db.get('idempotencyKey', space, key) !== undefined
  }

  takesTab(name: string, at: Millis, opener: string | undefined): boolean {
    return this.#tabs.wouldTake(name, at, opener)
  }

  recall({ space, key, fingerprint }: Idempotency): Recalled | undefined {
    const known = this.#db.get('idempotencyKey', space, key)
    if (!known) return undefined
    if (known['fingerprint'] !== fingerprint) return { kind: 'mismatch' }
    this.#addRows()
    const results: (SignupStatus | undefined)[] = this.#db
      .all('signupsBetween', Number(known['first']), Number(known['last']))
      .map(toStatus)
    for (const place of readPlaces(String(known['refused']))) results.splice(place, 0, undefined)
    return { kind: 'replayed', results }
  }

  #append({ signups, terms }: AppendRequest): Appended {
    const { idempotency, token, opener } = terms
    const recalled = idempotency && this.recall(idempotency)
    if (recalled) return recalled
    if (token !== undefined && this.#db.get('usedToken', token)) return { kind: 'tokenUsed' }
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
    const isIgnored = Number(this.#policy.duplicates === 'ignore' && this.#isKnown(tab, email))
    const position = (this.#position += 1)
    const texts = [email, source, name, tagsText, metadata]
    this.#rows.push([position, id, tab.id, receivedAt, ...texts, isIgnored])
    return { id, sheetTab: tab.name, receivedAt, position, ...(tab.isOpen && { isTabOpen: true }) }
  }

  #isKnown(tab: Tab, email: string): boolean {
    this.#addRows()
    return this.#db.get('sameAddress', tab.id, email) !== undefined
  }

  /** Puts the rows that wait into the table. */
  #addRows(): void {
    const rows = this.#rows
    this.#rows = []
    const whole = rows.length - (rows.length % signupsAtOnce)
    for (let at = 0; at < whole; at += signupsAtOnce) {
      this.#db.run('addSignups', ...rows.slice(at, at + signupsAtOnce).flat())
    }
    for (const row of rows.slice(whole)) this.#db.run('addSignup', ...row)
  }

  #rememberKey({ space, key, fingerprint }: Idempotency, results: AppendResults, at: Millis): void {
    const positions = results.flatMap((result) => (result ? [result.position] : []))
    const [first = 0] = positions
    const last = positions.at(-1) ?? first
    const places = results.flatMap((result, place) => (result ? [] : [place]))
    const refused = places.length === 0 ? '' : JSON.stringify(places)
    this.#db.run('addIdempotencyKey', space, key, fingerprint, first, last, refused, at)
    this.#db.run('deleteIdempotencyKeys', at - keysKept, deletedAtOnce)
  }

  #rememberToken(token: string, at: Millis): void {
    this.#db.run('addUsedToken', token, at)
    this.#db.run('deleteUsedTokens', at - tokensKept, deletedAtOnce)
  }
}

export function toStatus(row: Record<string, SQLOutputValue>): SignupStatus {
  const writtenAt = row['writtenAt']
  return {
    id: String(row['id']) as SignupId,
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
