import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'

import { type Millis, type Signup, type SignupId, tabKey } from '../signup/signup.ts'
import type {
  Appended,
  AppendResults,
  AppendTerms,
  Idempotency,
  JournalPolicy,
  OwnedKey,
  Recalled,
  SignupStatus,
} from './journal.ts'
import { signupsAtOnce } from './schema.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

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

interface Tab {
  readonly id: number
  readonly name: string
}

/** Puts signups into the tables, by the operator's policy, and knows what was put there by which key. */
export class SqliteAppends {
  readonly #db: SqliteDatabase
  readonly #policy: JournalPolicy
  readonly #namedKeys: ReadonlySet<string>
  /** Tabs by key. Holds committed tabs only, outside of `write`. */
  readonly #tabs = new Map<string, Tab>()
  /** Rows that were given their positions, and are not in the table yet. Empty outside of `write`. */
  #rows: SQLInputValue[][] = []
  /** The last one that was given away, within `write`. */
  #position = 0

  constructor(db: SqliteDatabase, policy: JournalPolicy) {
    this.#db = db
    this.#policy = policy
    this.#namedKeys = new Set(policy.namedTabs.map(tabKey))
    for (const row of db.all('tabs')) {
      this.#tabs.set(String(row['key']), { id: Number(row['id']), name: String(row['name']) })
    }
  }

  /** One transaction for a whole group; a later request of the group sees what an earlier one did. */
  write(group: readonly AppendRequest[]): readonly Appended[] {
    const opened: string[] = []
    try {
      return this.#db.transaction(() => {
        this.#position = Number(this.#db.get('lastPosition')?.['position'] ?? 0)
        const answers = group.map((request) => this.#append(request, opened))
        this.#addRows()
        return answers
      })
    } catch (error) {
      this.#rows = []
      for (const key of opened) this.#tabs.delete(key)
      throw error
    }
  }

  knows({ space, key }: OwnedKey): boolean {
    return this.#db.get('idempotencyKey', space, key) !== undefined
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

  #append({ signups, terms }: AppendRequest, opened: string[]): Appended {
    const { idempotency, token } = terms
    const recalled = idempotency && this.recall(idempotency)
    if (recalled) return recalled
    if (token !== undefined && this.#db.get('usedToken', token)) return { kind: 'tokenUsed' }
    const results = signups.map((signup) => this.#insert(signup, opened))
    const first = results.find((result) => result !== undefined)
    if (first && idempotency) this.#rememberKey(idempotency, results, first.receivedAt)
    if (first && token !== undefined) this.#rememberToken(token, first.receivedAt)
    return { kind: 'appended', results }
  }

  #insert(signup: Signup, opened: string[]): SignupStatus | undefined {
    const { id, sheetTab, receivedAt, email, source, name, tags, metadata } = signup
    const tab = this.#tab(sheetTab, opened)
    if (!tab) return undefined
    const tagsText = tags.length === 0 ? '' : JSON.stringify(tags)
    const isIgnored = Number(this.#policy.duplicates === 'ignore' && this.#isKnown(tab, email))
    const position = (this.#position += 1)
    const texts = [email, source, name, tagsText, metadata]
    this.#rows.push([position, id, tab.id, receivedAt, ...texts, isIgnored])
    return { id, sheetTab: tab.name, receivedAt, position }
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

  /** The tab of this name, made when it is missing; undefined when it would be one too many. */
  #tab(name: string, opened: string[]): Tab | undefined {
    const key = tabKey(name)
    const known = this.#tabs.get(key)
    if (known) return known
    if (!this.#namedKeys.has(key) && this.#newTabs >= this.#policy.newTabsMax) return undefined
    const tab = { id: this.#db.insert('addTab', key, name), name }
    this.#tabs.set(key, tab)
    opened.push(key)
    return tab
  }

  get #newTabs(): number {
    let count = this.#tabs.size
    for (const key of this.#namedKeys) if (this.#tabs.has(key)) count -= 1
    return count
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
    ...(writtenAt === null ? {} : { writtenAt: Number(writtenAt) }),
  }
}

function readPlaces(text: string): readonly number[] {
  return text === '' ? [] : (JSON.parse(text) as number[])
}
