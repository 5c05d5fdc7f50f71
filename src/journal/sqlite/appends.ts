import type { Clock } from '../../platform/clock.ts'
import { overflowKeyOf } from '../../signup/closing.ts'
import type { Millis, Signup } from '../../signup/signup.ts'
import type { Commit } from '../contracts/journal.ts'
import type { Listeners } from '../../platform/listeners.ts'
import { fingerprintHash, personOf } from '../hashes.ts'
import type {
  AppendResults,
  Appended,
  Idempotency,
  Recalled,
  SignupStatus,
} from '../contracts/intake-log.ts'
import { rowOf, type Statement, statementsOf, type Step } from '../sql.ts'
import { statusOfNew } from '../tables/append-one.ts'
import { rowStatus } from '../tables/layout.ts'
import { stepsToGreet } from '../tables/mail/mails.ts'
import {
  type Asks,
  statusesOfAsked,
  stepsToAsk,
  stepsToCountAsked,
} from '../tables/pending/pending.ts'
import { takenSeats } from '../tables/seats.ts'
import { isHeld, stepsToNote, type Suspect } from '../tables/quarantine.ts'
import type { Tab } from '../tables/tabs.ts'
import { decide, type ImportEngine } from '../tables/imports.ts'
import {
  challengeTokenMs,
  idempotencyKeyMs,
  type IntakeSite,
  keyIn,
  recalled,
  type SiteRequest,
  stepToFindKey,
  tellAdded,
} from '../tables/intake.ts'
import type { SqliteDatabase } from './database.ts'
import { NewSignups } from './new-signups.ts'

/** For each new key or token, up to two that are too old are deleted, so the tables shrink as they are used. */
const deletedAtOnce = 2

// Limits stand in the text: SQLite plans a statement anew for each run when its limit is bound.
const sql = statementsOf('sqlite appends', (dialect) => ({
  status: `SELECT ${statusOfNew(dialect, { person: '$1', hash: '$2', site: '$3', tab: '$4' })} AS status`,
  statusBeyond: `SELECT ${statusOfNew(dialect, { person: '$1', hash: '$2', site: '$3' })} AS status`,
  addKey: `INSERT INTO idempotency_key
             (site, key, fingerprint, first_position, last_position, refused, stored_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7)`,
  deleteKeys: `DELETE FROM idempotency_key WHERE (site, key) IN (
                 SELECT site, key FROM idempotency_key WHERE stored_at < $1
                 ORDER BY stored_at LIMIT ${deletedAtOnce})`,
  usedToken: 'SELECT 1 FROM used_token WHERE digest = $1',
  addToken: 'INSERT INTO used_token (digest, stored_at) VALUES ($1, $2)',
  deleteTokens: `DELETE FROM used_token WHERE digest IN (
                   SELECT digest FROM used_token WHERE stored_at < $1
                   ORDER BY stored_at LIMIT ${deletedAtOnce})`,
}))

/**
 * Appends a group of requests in one transaction, whatever sites they are for. Later requests see the
 * changes of earlier ones.
 *
 * @throws JournalBusy while another process writes
 */
export function appendGroup(
  db: SqliteDatabase,
  group: readonly SiteRequest[],
  clock: Pick<Clock, 'elapsed'>,
  commits: Listeners<Commit>,
): readonly Appended[] {
  const begun = clock.elapsed()
  let seats: ReadonlyMap<IntakeSite, number> = new Map()
  try {
    const outcomes = db.transaction(() => {
      const signups = new NewSignups(db)
      const appends = new Appends(db, signups)
      const appended = group.map((request) => [request, appends.append(request)] as const)
      signups.finish()
      appends.finish()
      seats = appends.seats
      return appended
    })
    for (const [site, taken] of seats) site.seats.learn(taken)
    tellAdded(outcomes, commits, clock.elapsed() - begun)
    return outcomes.map(([, outcome]) => outcome)
  } catch (error) {
    for (const { site } of group) site.tabs.forget()
    throw error
  }
}

/** The appends of one transaction. */
class Appends {
  readonly #db: SqliteDatabase
  readonly #signups: NewSignups
  readonly #suspects = new Map<IntakeSite, Suspect[]>()
  readonly #asked = new Map<IntakeSite, Signup[]>()
  readonly #greeted: Step[] = []
  /** When each key, and each token, was stored. */
  readonly #storedAt = { keys: [] as Millis[], tokens: [] as Millis[] }
  /** How many seats are taken, of the sites that have some. */
  readonly seats = new Map<IntakeSite, number>()

  constructor(db: SqliteDatabase, signups: NewSignups) {
    this.#db = db
    this.#signups = signups
  }

  append(request: SiteRequest): Appended {
    const { site, signups, terms } = request
    const { idempotency, token } = terms
    const replay = idempotency && this.#recall(site, idempotency)
    if (replay) return replay
    const used = token === undefined ? [] : this.#db.runStep([sql.usedToken, token]).rows
    if (used.length > 0) return { kind: 'tokenUsed' }
    if (request.asks) return this.#ask(request, request.asks)
    const tabs = this.#tabsOf(request)
    const overflowKey = overflowKeyOf(site.policy.closing)
    let duplicates = 0
    const results: (SignupStatus | undefined)[] = []
    for (const [index, signup] of signups.entries()) {
      const taken = this.#seatsTaken(site)
      const openness = taken === undefined ? 'open' : site.seats.opennessAt(taken)
      if (openness === 'closed') break
      const tab = openness === 'overflow' ? tabs.at(-1) : tabs[index]
      results.push(undefined)
      if (!tab) continue
      const isBeyond = tab.key === overflowKey
      const { id, receivedAt, email, suspect } = signup
      if (suspect) addTo(this.#suspects, site, [{ ...signup, suspect }])
      const hash = site.hashOf(email)
      const isKept = isHeld(site, signup)
      const status = isKept ? rowStatus.held : this.#statusOf(site, isBeyond ? null : tab.id, hash)
      if (status === rowStatus.none) duplicates += 1
      const takesSeat = status === rowStatus.wanted && !isBeyond
      if (taken !== undefined && takesSeat) this.seats.set(site, taken + 1)
      const position = this.#signups.add(site.id, tab.id, signup, hash, status, isBeyond)
      results[index] = { id, receivedAt, position, sheetTab: tab.name }
    }
    const first = results.find((result) => result !== undefined)
    if (first && idempotency) this.#rememberKey(site, idempotency, results, first.receivedAt)
    if (first && token !== undefined) {
      this.#db.runStep([sql.addToken, token, first.receivedAt])
      this.#storedAt.tokens.push(first.receivedAt)
    }
    this.#greeted.push(...stepsToGreet(site, signups, terms))
    return { kind: 'appended', results, ...(duplicates > 0 && { duplicates }) }
  }

  /** Notes what belongs to signups, which have their rows by then. */
  finish(): void {
    for (const [site, suspects] of this.#suspects) this.#run(stepsToNote(site, suspects))
    for (const [site, asked] of this.#asked) this.#run(stepsToCountAsked(site, asked))
    this.#run(this.#greeted)
    this.#deleteOld(sql.deleteKeys, idempotencyKeyMs, this.#storedAt.keys)
    this.#deleteOld(sql.deleteTokens, challengeTokenMs, this.#storedAt.tokens)
  }

  #ask(request: SiteRequest, asks: Asks): Appended {
    const { site, signups, terms } = request
    this.#run(stepsToAsk(site, signups, terms, asks))
    addTo(this.#asked, site, signups)
    const at = signups[0]?.receivedAt ?? 0
    if (terms.idempotency) this.#storedAt.keys.push(at)
    if (terms.token !== undefined) this.#storedAt.tokens.push(at)
    return { kind: 'appended', results: statusesOfAsked(signups, site.tabs) }
  }

  #run(steps: readonly Step[]): void {
    for (const step of steps) this.#db.runStep(step)
  }

  /** The tabs of signups, and behind them the overflow tab. */
  #tabsOf({ site, signups, terms }: SiteRequest): readonly (Tab | undefined)[] {
    const reached = site.tabs.reachedBy(signups)
    const known = site.tabs.namedBy(reached).map((tab) => site.tabs.known(tab))
    if (!known.includes(undefined)) return known
    const at = signups[0]?.receivedAt ?? 0
    return this.#db.runNow(site.tabs.take(reached, at, terms.client))
  }

  /** How many seats of the site are taken; undefined when it has none. */
  #seatsTaken(site: IntakeSite): number | undefined {
    if (site.policy.closing?.after === undefined) return undefined
    const known = this.seats.get(site)
    if (known !== undefined) return known
    const taken = this.#db.runNow(takenSeats(site.id))
    this.seats.set(site, taken)
    return taken
  }

  #recall(site: IntakeSite, idempotency: Idempotency): Recalled | undefined {
    const known = keyIn(this.#db.runStep(stepToFindKey(site.id, site.keyHashOf(idempotency))))
    if (!known) return undefined
    this.#signups.addRows()
    return this.#db.runNow(recalled(site, known, idempotency))
  }

  /** The `rowStatus` of a signup that is not held. @param tab the id of its tab; null for the overflow tab */
  #statusOf({ id, policy }: IntakeSite, tab: number | null, hash: string | null): number {
    if (policy.duplicates === 'append') return rowStatus.wanted
    this.#signups.addRows()
    const of = [personOf(hash), hash, id] as const
    const step: Step = tab === null ? [sql.statusBeyond, ...of] : [sql.status, ...of, tab]
    return Number(rowOf(this.#db.runStep(step))['status'])
  }

  #rememberKey(
    { id, secret, keyHashOf }: IntakeSite,
    idempotency: Idempotency,
    results: AppendResults,
    at: Millis,
  ): void {
    const positions = results.flatMap((result) => (result ? [result.position] : []))
    const [first = 0] = positions
    const last = positions.at(-1) ?? first
    const places = results.flatMap((result, place) => (result ? [] : [place]))
    const refused = places.length === 0 ? '' : JSON.stringify(places)
    // Hashes, because a key may be an address, and a fingerprint could be guessed from one.
    const key = keyHashOf(idempotency)
    const fingerprint = fingerprintHash(secret, idempotency.fingerprint)
    this.#db.runStep([sql.addKey, id, key, fingerprint, first, last, refused, at])
    this.#storedAt.keys.push(at)
  }

  /** Looks no further when none is old. */
  #deleteOld(statement: Statement, keptMs: Millis, storedAt: readonly Millis[]): void {
    storedAt.every((at) => this.#db.runStep([statement, at - keptMs]).changes > 0)
  }
}

function addTo<Key, T>(lists: Map<Key, T[]>, key: Key, items: readonly T[]): void {
  const list = lists.get(key) ?? []
  list.push(...items)
  lists.set(key, list)
}

export function importsIn(
  db: SqliteDatabase,
  { id, hashOf, policy }: Pick<IntakeSite, 'id' | 'hashOf' | 'policy'>,
): ImportEngine {
  const overflowKey = overflowKeyOf(policy.closing)
  return {
    looksFirst: true,
    add: (values, signups, before, behind) =>
      db.write(
        () => {
          for (const step of before) db.runStep(step)
          const { rows } = db.runStep([decide, ...values])
          const added = new NewSignups(db)
          for (const [index, signup] of signups.entries()) {
            const { result, id: tab, key } = rows[index] ?? {}
            if (result !== 'added') continue
            const isBeyond = key === overflowKey
            added.add(id, Number(tab), signup, hashOf(signup.email), rowStatus.wanted, isBeyond)
          }
          added.finish()
          for (const step of behind) db.runStep(step)
          return rows
        },
        { isSynced: false },
      ),
    settle: async (signups, add) => ({ results: await add(signups) }),
    flush: () => db.log.putOnDisk(),
  }
}
