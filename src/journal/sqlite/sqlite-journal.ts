import { createHash, randomBytes, randomInt } from 'node:crypto'
import type { SQLOutputValue } from 'node:sqlite'

import { type Clock, systemClock } from '../../platform/clock.ts'
import type { FrozenBatch, TabSignups } from '../../signup/batch.ts'
import { type Millis, type Signup, type SignupId, tabKey } from '../../signup/signup.ts'
import { GroupCommit } from '../group-commit.ts'
import type {
  EndedMarker,
  Fenced,
  PendingTab,
  RunningTime,
  RunningTimeNote,
  Share,
  WaitingSignup,
  WaitingSlice,
} from '../delivery-log.ts'
import type {
  AppendTerms,
  Appended,
  DefaultTab,
  Idempotency,
  OwnedKey,
  Recalled,
  SignupStatus,
  TabCursor,
} from '../intake-log.ts'
import type { Journal } from '../journal.ts'
import { type JournalPolicy, defaultPolicy } from '../policy.ts'
import { type AppendRequest, SqliteAppends, toStatus } from './appends.ts'
import { SqliteDatabase } from './database.ts'
import { openKey, SqliteDefaultTab } from './default-tab.ts'

const hour = 60 * 60 * 1000
/** Notes on calls are kept a little longer than the longest quota window, which is a day. */
const callsKept = 25 * hour
/** Read in one piece, while no request gets its turn: under a millisecond. */
const sliceRows = 100

/**
 * Opens the journal in this SQLite file, making or migrating it.
 *
 * @throws Error when the file is not a journal, or was written by a newer version.
 */
export function openSqliteJournal(
  file: string,
  policy: Partial<JournalPolicy> = {},
  clock: Pick<Clock, 'elapsed'> = systemClock,
): Journal {
  return new SqliteJournal(file, { ...defaultPolicy, ...policy }, clock)
}

/** The journal on `node:sqlite`: write-ahead log, every commit synced to disk before it counts. */
class SqliteJournal implements Journal {
  readonly #db: SqliteDatabase
  readonly #default: SqliteDefaultTab
  readonly #appends: SqliteAppends
  readonly #commits: GroupCommit<AppendRequest, Appended>
  readonly #appendListeners = new Set<(added: number) => void>()
  readonly #settleListeners = new Set<(cursors: readonly TabCursor[]) => void>()
  readonly #id: string
  #backlog: number

  constructor(file: string, policy: JournalPolicy, clock: Pick<Clock, 'elapsed'>) {
    this.#db = new SqliteDatabase(file, { findsAddresses: policy.duplicates === 'ignore' })
    this.#default = new SqliteDefaultTab(this.#db, policy)
    this.#appends = new SqliteAppends(this.#db, policy, this.#default)
    this.#commits = new GroupCommit((group) => this.#write(group), clock)
    this.#id = this.#db.property('journal', () => randomBytes(4).toString('hex'))
    this.#backlog = Number(this.#db.get('countBacklog')?.['backlog'])
  }

  append(signups: readonly Signup[], terms: AppendTerms = {}): Promise<Appended> {
    return this.#commits.add({ signups, terms })
  }

  async recall(idempotency: Idempotency): Promise<Recalled | undefined> {
    return this.#db.read(() => this.#appends.recall(idempotency))
  }

  get defaultTab(): DefaultTab {
    return this.#default.current
  }

  async resolveDefaultTab(name: string): Promise<DefaultTab> {
    return this.#default.resolve(name)
  }

  async knows(key: OwnedKey): Promise<boolean> {
    return this.#db.read(() => this.#appends.knows(key))
  }

  async takesTab(name: string, at: Millis, opener?: string): Promise<boolean> {
    return this.#db.read(() => this.#appends.takesTab(name, at, opener))
  }

  async find(id: SignupId): Promise<SignupStatus | undefined> {
    const row = this.#db.read(() => this.#db.get('findSignup', id))
    return row && toStatus(row)
  }

  onAppend(listener: (added: number) => void): () => void {
    this.#appendListeners.add(listener)
    return () => this.#appendListeners.delete(listener)
  }

  onSettle(listener: (cursors: readonly TabCursor[]) => void): () => void {
    this.#settleListeners.add(listener)
    return () => this.#settleListeners.delete(listener)
  }

  async backlog(): Promise<number> {
    return this.#backlog
  }

  async waitingSince(asideTabs: readonly string[]): Promise<Millis | undefined> {
    const aside = new Set(asideTabs)
    return this.#db.read(() => {
      const waiting = this.#db
        .all('firstWaiting')
        .filter(({ name }) => !aside.has(tabKey(String(name))))
      if (waiting.length === 0) return undefined
      const received = waiting.map(({ receivedAt }) => Number(receivedAt))
      return Math.max(Number(this.#db.get('lastSettled')?.['at'] ?? 0), Math.min(...received))
    })
  }

  async probe(): Promise<void> {
    // Another value each time: SQLite writes nothing that stays the same.
    await this.noteFact('probed', crypto.randomUUID())
  }

  async frozen(): Promise<Fenced | undefined> {
    const batch = this.#db.read(() => this.#db.get('frozenBatch'))
    return batch && { number: Number(batch['number']), marker: Number(batch['marker']) }
  }

  async frozenBatch(): Promise<FrozenBatch | undefined> {
    return this.#db.read(() => {
      const batch = this.#db.get('frozenBatch')
      if (!batch) return undefined
      const number = Number(batch['number'])
      const tabs = this.#db.all('rangesOfBatch', number).map((range): TabSignups => {
        const tab = Number(range['tab'])
        const rows = this.#db.all(
          'signupsOfTab',
          tab,
          Number(range['after']),
          Number(range['upto']),
          -1,
        )
        return {
          tab: String(range['name']),
          signups: written(rows.map((row) => toWaiting(row, String(range['name'])))),
        }
      })
      return this.#frozen(number, Number(batch['marker']), String(batch['digest']), tabs)
    })
  }

  async pending(): Promise<readonly PendingTab[]> {
    return this.#db.read(() => this.#pendingTabs())
  }

  async waiting(tab: PendingTab, after?: number): Promise<WaitingSlice> {
    // The first slice is short work; between the others requests get their turn.
    if (after !== undefined) await new Promise((resolve) => setImmediate(resolve))
    const from = after ?? tab.writtenTo
    const rows = this.#db.read(() =>
      this.#db.all('signupsOfTab', tab.id, from, Number.MAX_SAFE_INTEGER, sliceRows),
    )
    return {
      signups: rows.map((row) => toWaiting(row, tab.name)),
      hasMore: rows.length === sliceRows,
    }
  }

  async freeze(shares: readonly Share[], markerIdMax: number): Promise<FrozenBatch> {
    if (!this.#default.current.isResolved) throw new Error('The default tab is not resolved.')
    return this.#db.transaction(() => {
      if (this.#db.get('frozenBatch')) throw new Error('A batch is frozen already.')
      const now = new Map(this.#pendingTabs().map(({ id, writtenTo }) => [id, writtenTo]))
      if (shares.some(({ tab }) => now.get(tab.id) !== tab.writtenTo)) {
        throw new Error('Another writer has ended a batch meanwhile.')
      }
      const tabs = shares.map(({ tab, signups }) => ({ tab: tab.name, signups: written(signups) }))
      const digest = digestOf(shares)
      const count = shares.reduce((sum, { signups }) => sum + signups.length, 0)
      const number = Number(this.#db.get('addBatch', digest, count)?.['number'])
      const marker = this.#markerFor(number, markerIdMax)
      this.#db.run('addMarker', marker, number)
      for (const { tab, signups } of shares) {
        const upto = signups.at(-1)?.position ?? tab.writtenTo
        this.#db.run('addRange', tab.id, upto, tab.writtenTo, number)
      }
      return this.#frozen(number, marker, digest, tabs)
    })
  }

  async settle(batch: number, at: Millis): Promise<void> {
    const { count, cursors } = this.#db.transaction(() => {
      const settled = this.#db.get('settleBatch', at, batch)
      if (!settled) throw notFrozen(batch)
      this.#db.run('moveCursor', batch)
      this.#db.run('endMarker', batch)
      const ranges = this.#db.all('rangesOfBatch', batch)
      return {
        count: Number(settled['signups']),
        cursors: ranges.flatMap((range) => this.#cursorsOf(range)),
      }
    })
    this.#backlog -= count
    for (const listener of this.#settleListeners) listener(cursors)
  }

  #cursorsOf(range: Record<string, SQLOutputValue>): TabCursor[] {
    const [tab, upto] = [String(range['name']), Number(range['upto'])]
    const isDefault = tabKey(tab) === tabKey(this.#default.current.name)
    return (isDefault ? [tab, openKey] : [tab]).map((told) => ({ tab: told, upto }))
  }

  async release(batch: Fenced): Promise<void> {
    this.#db.transaction(() => {
      this.#assertFrozen(batch)
      this.#db.run('deleteRanges', batch.number)
      this.#db.run('deleteBatch', batch.number)
      this.#db.run('endMarker', batch.number)
    })
  }

  async remark(batch: Fenced, markerIdMax: number): Promise<FrozenBatch> {
    this.#db.transaction(() => {
      this.#assertFrozen(batch)
      this.#db.run('setProperty', 'marker-base', String(randomMarkerBase()))
      const marker = this.#markerFor(batch.number, markerIdMax)
      this.#db.run('changeMarker', marker, batch.number)
    })
    const frozen = await this.frozenBatch()
    if (frozen?.number !== batch.number) throw notFrozen(batch.number)
    return frozen
  }

  #assertFrozen({ number, marker }: Fenced): void {
    const frozen = this.#db.get('frozenBatch')
    if (frozen?.['number'] !== number || frozen['marker'] !== marker) throw notFrozen(number)
  }

  async noteFound(batch: Fenced): Promise<void> {
    this.#db.transaction(() => {
      this.#assertFrozen(batch)
      this.#db.run('markFound', batch.number)
    })
  }

  async endedMarkers(): Promise<readonly EndedMarker[]> {
    const rows = this.#db.read(() => this.#db.all('endedMarkers'))
    return rows.map(({ id, isFound, ripeAt }) => ({
      id: Number(id),
      isFound: isFound === 1,
      ripeAt: ripeAt === null ? undefined : Number(ripeAt),
    }))
  }

  async noteRunningTime({ by, ms, seen, lives }: RunningTimeNote): Promise<RunningTime> {
    return this.#db.transaction(() => {
      const nobody = JSON.stringify({ ms: 0, by: '' })
      const last = JSON.parse(this.#db.property('running-time', () => nobody)) as RunningTime
      const isAsSeen = seen?.by === last.by && seen.ms === last.ms
      if (seen && !isAsSeen && last.by !== by && lives.size === 0) return last
      const next = { ms: last.ms + (isAsSeen && last.by === by ? ms : 0), by }
      this.#db.run('setProperty', 'running-time', JSON.stringify(next))
      for (const [id, life] of lives) this.#db.run('ripenMarker', next.ms + life, id)
      return next
    })
  }

  async markerCount(): Promise<number> {
    return this.#db.read(() => Number(this.#db.get('countMarkers')?.['count']))
  }

  async forgetMarkers(markers: readonly number[]): Promise<void> {
    this.#db.transaction(() => {
      for (const marker of markers) this.#db.run('deleteMarker', marker)
    })
  }

  async fact(name: string): Promise<string | undefined> {
    const row = this.#db.read(() => this.#db.get('property', `fact ${name}`))
    return row && String(row['value'])
  }

  async noteFact(name: string, value: string): Promise<void> {
    this.#db.transaction(() => this.#db.run('setProperty', `fact ${name}`, value))
  }

  async recordCall(at: Millis): Promise<void> {
    this.#db.transaction(() => {
      this.#db.run('addCall', at)
      this.#db.run('deleteCalls', at - callsKept)
    })
  }

  async callsSince(at: Millis): Promise<readonly Millis[]> {
    return this.#db.read(() => this.#db.all('callsSince', at).map((row) => Number(row['at'])))
  }

  /** Commits what waits and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#commits.flush()
    this.#db.close()
  }

  #write(group: readonly AppendRequest[]): readonly Appended[] {
    const answers = this.#appends.write(group)
    const added = answers.reduce((sum, answer) => sum + addedBy(answer), 0)
    this.#backlog += added
    if (added > 0) for (const listener of this.#appendListeners) listener(added)
    return answers
  }

  #pendingTabs(): PendingTab[] {
    return this.#db.all('pendingTabs').map((row) => ({
      id: Number(row['id']),
      name: String(row['name']),
      writtenTo: Number(row['writtenTo']),
    }))
  }

  #frozen(
    number: number,
    marker: number,
    digest: string,
    tabs: readonly TabSignups[],
  ): FrozenBatch {
    return { number, marker, fingerprint: `${this.#id}:${number}:${digest}`, tabs }
  }

  #markerFor(batch: number, idMax: number): number {
    const base = Number(this.#db.property('marker-base', () => String(randomMarkerBase())))
    return ((base + batch) % idMax) + 1
  }
}

function toWaiting(row: Record<string, SQLOutputValue>, tab: string): WaitingSignup {
  const tags = String(row['tags'])
  return {
    position: Number(row['position']),
    textBytes: Number(row['textBytes']),
    isIgnored: row['isIgnored'] === 1,
    signup: {
      id: String(row['id']) as SignupId,
      receivedAt: Number(row['receivedAt']),
      email: String(row['email']),
      sheetTab: tab,
      source: String(row['source']),
      name: String(row['name']),
      tags: tags === '' ? [] : (JSON.parse(tags) as string[]),
      metadata: String(row['metadata']),
    },
  }
}

function addedBy(answer: Appended): number {
  if (answer.kind !== 'appended') return 0
  return answer.results.filter((result) => result !== undefined).length
}

/** Those that get a row. */
function written(stored: readonly WaitingSignup[]): readonly Signup[] {
  return stored.flatMap(({ signup, isIgnored }) => (isIgnored ? [] : [signup]))
}

/** Tells batches with different contents apart, also those of a journal restored from a backup. */
function digestOf(shares: readonly Share[]): string {
  const hash = createHash('sha256')
  for (const { tab, signups } of shares) {
    const ends = [signups[0]?.signup.id, signups.at(-1)?.signup.id]
    hash.update(JSON.stringify([tab.name, signups.length, ...ends]))
  }
  return hash.digest('hex').slice(0, 12)
}

function randomMarkerBase(): number {
  return randomInt(2 ** 31)
}

function notFrozen(batch: number): Error {
  return new Error(`Batch ${batch} is not frozen.`)
}
