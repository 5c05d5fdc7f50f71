import { type Millis, type Signup, type SignupId, tabKey } from '../../signup/signup.ts'
import type { Commit } from '../contracts/journal.ts'
import type {
  Appended,
  AppendResults,
  AppendTerms,
  Idempotency,
  IntakeLog,
  OwnedKey,
  Recalled,
  SignupStatus,
} from '../contracts/intake-log.ts'
import { minute } from '../../platform/clock.ts'
import type { Listeners } from '../../platform/listeners.ts'
import { fingerprintHash } from '../hashes.ts'
import {
  type Answer,
  ask,
  givenRows,
  numberOf,
  type Operation,
  type Row,
  reading,
  statementsOf,
  type Step,
} from '../sql.ts'
import { askForTabs, wouldTakeTab } from './pending/asked-tabs.ts'
import { idOf } from './rows.ts'
import type { Seats } from './seats.ts'
import type { Site } from './site.ts'
import { type Asks, stepToFindPending, stepToRecall, toPendingStatus } from './pending/pending.ts'
import type { Tabs } from './tabs.ts'
import { withWordings } from './pending/wordings.ts'

/**
 * For how many milliseconds an idempotency key is kept. The contract says 24 hours. The extra hour is for
 * clocks that somebody corrects meanwhile.
 */
export const idempotencyKeyMs = 25 * 60 * minute

/** For how many milliseconds a used token is kept: longer than any challenge token is valid. */
export const challengeTokenMs = 10 * minute

/** When the first batch that has the signup was settled. */
export const settledAt = `(
    SELECT batch.settled_at FROM batch_range JOIN batch ON batch.number = batch_range.batch
    WHERE batch_range.tab = signup.tab AND batch_range.upto >= signup.position
    ORDER BY batch_range.upto LIMIT 1
  ) AS "writtenAt"`

/** Selects what `toStatus` reads. */
const selectStatus = `
  SELECT signup.position, signup.id, signup.received_at AS "receivedAt", tab.name AS "sheetTab", ${settledAt}
  FROM signup JOIN tab ON tab.id = signup.tab`

const sql = statementsOf('intake', ({ given, id }) => ({
  find: `${selectStatus} WHERE signup.id = ${id('$1')} AND tab.site = $2`,
  findAll: `${selectStatus}
            WHERE signup.id IN (SELECT ${id('wanted.id')} FROM ${given('wanted', '$1', { id: 'text' })})`,
  between: `${selectStatus} WHERE signup.position BETWEEN $1 AND $2 ORDER BY signup.position`,
  key: `SELECT fingerprint, first_position AS first, last_position AS last, refused
        FROM idempotency_key WHERE site = $1 AND key = $2`,
  // A tab without progress has nothing in the spreadsheet yet. CROSS JOIN keeps SQLite from reading all
  // that was asked for once for each tab.
  cursors: `SELECT tab.key, coalesce(written_to, 0) AS upto
            FROM ${given('asked', '$2', { key: 'text' })} CROSS JOIN tab
            LEFT JOIN progress ON progress.tab = tab.id
            WHERE tab.site = $1 AND tab.key = asked.key`,
}))

/** What the journal keeps of a request with an idempotency key. */
export interface KnownKey {
  /** A hash. */
  readonly fingerprint: string
  /** The positions of its first and its last signup. */
  readonly first: number
  readonly last: number
  /** The indexes of signups that got no tab, as a JSON array; or empty. */
  readonly refused: string
}

/** A site, with the tabs that its requests know. */
export interface IntakeSite extends Site {
  readonly tabs: Tabs
  readonly seats: Seats
  /** The wall clock of the journal. */
  readonly now: () => Millis
}

export interface AppendRequest {
  readonly signups: readonly Signup[]
  readonly terms: AppendTerms
  /** Set when they are to be confirmed first. */
  readonly asks?: Asks | undefined
}

/** When the first signup of a request came. */
export function timeOf({ signups }: Pick<AppendRequest, 'signups'>): Millis {
  return signups[0]?.receivedAt ?? 0
}

/** A request, and the site that it is for. */
export interface SiteRequest extends AppendRequest {
  readonly site: IntakeSite
}

/** The engine's group commit, which the sites of a journal share. */
export interface AppendGroup {
  add(request: SiteRequest): Promise<Appended>
  /** Resolves when all requests were answered. */
  drain(): Promise<void>
}

/** The intake log of one site. */
export function intakeOf(site: IntakeSite, group: AppendGroup): IntakeLog {
  const { db, id: siteId, tabs: known, seats, policy, now } = site
  const { overflowTab = '' } = policy.closing ?? {}
  const beyond = (signups: readonly Signup[]) =>
    signups.map((signup) => ({ ...signup, sheetTab: overflowTab }))
  const find = async (owned: OwnedKey) =>
    keyIn(...(await db.query(stepToFindKey(siteId, site.keyHashOf(owned)))))
  const recall: IntakeLog['recall'] = async (idempotency) => {
    const key = await find(idempotency)
    return key && reading(db, recalled(site, key, idempotency))
  }
  /** Nothing is added, unless that was done by an earlier request. */
  const closedTo = async ({ idempotency }: AppendTerms): Promise<Appended> =>
    (idempotency && (await recall(idempotency))) ?? { kind: 'appended', results: [] }
  const add = ({ signups, ...others }: AppendRequest) =>
    withWordings(site, signups, (known) => group.add({ site, signups: known, ...others }))
  return {
    append: async (signups, terms = {}) => {
      const openness = seats.openness(timeOf({ signups }))
      if (openness === 'closed') return closedTo(terms)
      return add({ signups: openness === 'open' ? signups : beyond(signups), terms })
    },
    ask: async (all, terms) => {
      await seats.look()
      const openness = seats.openness(timeOf({ signups: all }))
      if (openness === 'closed') return closedTo(terms)
      const signups = openness === 'open' ? all : beyond(all)
      const { addressing, client, ...others } = terms
      const names = [...new Set(signups.map(({ sheetTab }) => sheetTab))]
      const takes = await askForTabs(site, names, timeOf({ signups }), client)
      const taken = signups.filter(({ sheetTab }) => takes.has(sheetTab))
      if (taken.length === 0) return { kind: 'appended', results: signups.map(() => undefined) }
      const places = signups.flatMap(({ sheetTab }, place) => (takes.has(sheetTab) ? [] : [place]))
      const refused = places.length === 0 ? '' : JSON.stringify(places)
      const asks = { addressing, refused }
      const answer = await add({ signups: taken, terms: others, asks })
      if (answer.kind !== 'appended') return answer
      return { kind: 'appended', results: withRefused(answer.results, places) }
    },
    takesTab: (name, at, client) => wouldTakeTab(site, name, at, client),
    recall,
    openness: (at) => seats.openness(at),
    lookAtSeats: () => seats.look(),
    knows: async (key) => (await find(key)) !== undefined,
    find: async (id) => {
      const [{ rows }] = await db.query([sql.find, id, siteId])
      if (rows[0]) return toStatus(rows[0])
      const [beside] = await db.query(stepToFindPending(id, siteId))
      return beside.rows[0] && toPendingStatus(beside.rows[0], known, now())
    },
    onSettle: (listener) => site.settled.add(listener),
    cursors: async (tabs) => {
      if (tabs.length === 0) return []
      const keys = tabs.map((tab) => ({ key: tabKey(tab) }))
      const [{ rows }] = await db.query([sql.cursors, siteId, givenRows(keys)])
      const uptos = new Map(rows.map(({ key, upto }) => [key, Number(upto)]))
      return tabs.flatMap((tab) => {
        const upto = uptos.get(tabKey(tab))
        return upto === undefined ? [] : [{ tab, upto }]
      })
    },
  }
}

export function stepToFindKey(site: number, key: string | null): Step {
  return [sql.key, site, key]
}

/** Finds the rows for `toStatus` of those of these signups, of any site, that are in the list. */
export function stepToFindAll(ids: readonly SignupId[]): Step {
  return [sql.findAll, givenRows(ids.map((id) => ({ id })))]
}

/** What is known of an idempotency key, in the answer to `stepToFindKey`; undefined when it is unknown. */
export function keyIn({ rows: [row] }: Pick<Answer, 'rows'>): KnownKey | undefined {
  return row as KnownKey | undefined
}

/** What a later request with a known key is answered. */
export function* recalled(
  { secret, tabs, now }: Pick<IntakeSite, 'secret' | 'tabs' | 'now'>,
  { fingerprint, first, last, refused }: KnownKey,
  idempotency: Idempotency,
): Operation<Recalled> {
  if (fingerprint !== fingerprintHash(secret, idempotency.fingerprint)) return { kind: 'mismatch' }
  const isBeside = first < 0
  const [{ rows }] = yield* ask(isBeside ? stepToRecall(first, last) : [sql.between, first, last])
  const results: (SignupStatus | undefined)[] = rows.map((row) =>
    isBeside ? toPendingStatus(row, tabs, now()) : toStatus(row),
  )
  if (isBeside) {
    // One that was confirmed is in the list now.
    const places = new Map(rows.map(({ id }, index) => [idOf(id), index]))
    const [found] = yield* ask(stepToFindAll([...places.keys()]))
    for (const status of found.rows.map(toStatus)) results[places.get(status.id) ?? -1] = status
  }
  const places = refused === '' ? [] : (JSON.parse(refused) as number[])
  return { kind: 'replayed', results: withRefused(results, places) }
}

/** The results of a request, with those of its refused signups at these places. */
function withRefused(results: AppendResults, places: readonly number[]): AppendResults {
  const all = [...results]
  for (const place of places) all.splice(place, 0, undefined)
  return all
}

/**
 * Tells each site how many signups a commit has added to it, and `commits` how many it has added in all.
 *
 * @param outcomes what became of the requests of the commit
 * @param ms how long the commit took
 */
export function tellAdded(
  outcomes: Iterable<readonly [SiteRequest, { readonly kind: string; results?: AppendResults }]>,
  commits: Listeners<Commit>,
  ms: Millis,
): void {
  const addedTo = new Map<IntakeSite, number>()
  let signups = 0
  for (const [{ site, asks }, { kind, results = [] }] of outcomes) {
    if (kind !== 'appended' || asks) continue
    let added = 0
    for (const result of results) if (result) added += 1
    addedTo.set(site, (addedTo.get(site) ?? 0) + added)
    signups += added
  }
  if (signups === 0) return
  for (const [site, added] of addedTo) if (added > 0) site.appended.tell(added)
  commits.tell({ signups, ms })
}

export function toStatus(row: Row): SignupStatus {
  const writtenAt = numberOf(row['writtenAt'])
  return {
    id: idOf(row['id']),
    position: Number(row['position']),
    receivedAt: Number(row['receivedAt']),
    sheetTab: String(row['sheetTab']),
    ...(writtenAt !== undefined && { writtenAt }),
  }
}
