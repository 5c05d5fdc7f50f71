import { createHash, randomBytes, randomInt } from 'node:crypto'
import {
  DatabaseSync,
  type SQLInputValue,
  type SQLOutputValue,
  type StatementSync,
} from 'node:sqlite'

import type { FrozenBatch, TabSignups } from '../signup/batch.ts'
import { tabKey } from '../signup/signup.ts'
import type { Millis, Receipt, Signup, SignupId } from '../signup/signup.ts'
import { GroupCommit } from './group-commit.ts'
import { type BatchLimits, type Journal, JournalUnavailable, type SignupStatus } from './journal.ts'
import { fillShares, type PendingTab, type StoredSignup } from './shares.ts'
import { migrations, statements } from './schema.ts'

const hour = 60 * 60 * 1000
/** Notes on calls are kept a little longer than the longest quota window, which is a day. */
const callsKept = 25 * hour
const markerMax = 2 ** 31 - 1

/**
 * Opens the journal in this SQLite file, making or migrating it.
 *
 * @throws Error when the file is not a journal, or was written by a newer version.
 */
export function openSqliteJournal(file: string): Journal {
  return new SqliteJournal(file)
}

type Name = keyof typeof statements

/** The journal on `node:sqlite`: write-ahead log, every commit synced to disk before it counts. */
class SqliteJournal implements Journal {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<Name, StatementSync>()
  readonly #appends = new GroupCommit((group: readonly (readonly Signup[])[]) => this.#write(group))
  readonly #listeners = new Set<() => void>()
  /** Tabs by key. Holds committed tabs only. */
  readonly #tabs = new Map<string, { id: number; name: string }>()
  readonly #id: string
  #backlog: number

  constructor(file: string) {
    this.#db = new DatabaseSync(file)
    this.#prepare(file)
    this.#id = this.#property('journal', () => randomBytes(4).toString('hex'))
    this.#loadTabs()
    this.#backlog = Number(this.#get('countBacklog')?.['backlog'])
  }

  append(signups: readonly Signup[]): Promise<readonly Receipt[]> {
    return this.#appends.add(signups)
  }

  async find(id: SignupId): Promise<SignupStatus | undefined> {
    const row = this.#read(() => this.#get('findSignup', id))
    if (!row) return undefined
    const writtenAt = row['writtenAt']
    return {
      id,
      sheetTab: String(row['sheetTab']),
      receivedAt: Number(row['receivedAt']),
      ...(writtenAt === null ? {} : { writtenAt: Number(writtenAt) }),
    }
  }

  onAppend(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async backlog(): Promise<number> {
    return this.#backlog
  }

  async frozenBatch(): Promise<FrozenBatch | undefined> {
    return this.#read(() => {
      const batch = this.#get('frozenBatch')
      if (!batch) return undefined
      const number = Number(batch['number'])
      const tabs = this.#all('rangesOfBatch', number).map((range): TabSignups => {
        const tab = Number(range['tab'])
        const rows = this.#all(
          'signupsOfTab',
          tab,
          Number(range['after']),
          Number(range['upto']),
          -1,
        )
        return {
          tab: String(range['name']),
          signups: rows.map((row) => toStored(row, String(range['name'])).signup),
        }
      })
      return this.#frozen(number, Number(batch['marker']), String(batch['digest']), tabs)
    })
  }

  async freeze(
    limits: BatchLimits,
    wanted: (tab: string) => boolean,
  ): Promise<FrozenBatch | undefined> {
    return this.#transaction(() => {
      if (this.#get('frozenBatch')) throw new Error('A batch is frozen already.')
      const pending = this.#all('pendingTabs')
        .map((row): PendingTab => {
          return {
            id: Number(row['id']),
            name: String(row['name']),
            writtenTo: Number(row['writtenTo']),
          }
        })
        .filter((tab) => wanted(tab.name))
      const filled = fillShares(pending, limits, (tab, after) => this.#pendingSignups(tab, after))
      if (filled.length === 0) return undefined
      const tabs = filled.map(({ tab, stored }) => ({
        tab: tab.name,
        signups: stored.map(({ signup }) => signup),
      }))
      const digest = digestOf(tabs)
      const count = tabs.reduce((sum, tab) => sum + tab.signups.length, 0)
      const number = Number(this.#get('addBatch', digest, count)?.['number'])
      const marker = this.#markerFor(number)
      this.#run('addMarker', marker, number)
      for (const { tab, stored } of filled) {
        const upto = stored.at(-1)?.position ?? tab.writtenTo
        this.#run('addRange', tab.id, upto, tab.writtenTo, number)
      }
      return this.#frozen(number, marker, digest, tabs)
    })
  }

  async settle(batch: number, at: Millis): Promise<void> {
    const written = this.#transaction(() => {
      const settled = this.#get('settleBatch', at, batch)
      if (!settled) throw notFrozen(batch)
      this.#run('moveCursor', batch)
      this.#run('endMarker', batch)
      return Number(settled['signups'])
    })
    this.#backlog -= written
  }

  async release(batch: number): Promise<void> {
    this.#transaction(() => {
      this.#run('deleteRanges', batch)
      if (this.#run('deleteBatch', batch) === 0) throw notFrozen(batch)
      this.#run('endMarker', batch)
    })
  }

  async remark(batch: number): Promise<FrozenBatch> {
    this.#transaction(() => {
      this.#run('setProperty', 'marker-base', String(randomMarkerBase()))
      if (this.#run('changeMarker', this.#markerFor(batch), batch) === 0) throw notFrozen(batch)
    })
    const frozen = await this.frozenBatch()
    if (frozen?.number !== batch) throw notFrozen(batch)
    return frozen
  }

  async endedMarkers(): Promise<readonly number[]> {
    return this.#read(() => this.#all('endedMarkers').map((row) => Number(row['id'])))
  }

  async markerCount(): Promise<number> {
    return this.#read(() => Number(this.#get('countMarkers')?.['count']))
  }

  async forgetMarkers(markers: readonly number[]): Promise<void> {
    this.#transaction(() => {
      for (const marker of markers) this.#run('deleteMarker', marker)
    })
  }

  async fact(name: string): Promise<string | undefined> {
    const row = this.#read(() => this.#get('property', `fact ${name}`))
    return row && String(row['value'])
  }

  async noteFact(name: string, value: string): Promise<void> {
    this.#transaction(() => this.#run('setProperty', `fact ${name}`, value))
  }

  async recordCall(at: Millis): Promise<void> {
    this.#transaction(() => {
      this.#run('addCall', at)
      this.#run('deleteCalls', at - callsKept)
    })
  }

  async callsSince(at: Millis): Promise<readonly Millis[]> {
    return this.#read(() => this.#all('callsSince', at).map((row) => Number(row['at'])))
  }

  /** Commits what waits and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#appends.flush()
    this.#db.close()
  }

  /** One transaction for a whole group of appends. */
  #write(group: readonly (readonly Signup[])[]): readonly (readonly Receipt[])[] {
    const opened: string[] = []
    try {
      const receipts = this.#transaction(() =>
        group.map((signups) => signups.map((signup) => this.#insert(signup, opened))),
      )
      this.#backlog += group.reduce((count, signups) => count + signups.length, 0)
      for (const listener of this.#listeners) listener()
      return receipts
    } catch (error) {
      for (const key of opened) this.#tabs.delete(key)
      throw error
    }
  }

  #insert(signup: Signup, opened: string[]): Receipt {
    const key = tabKey(signup.sheetTab)
    let tab = this.#tabs.get(key)
    if (!tab) {
      tab = {
        id: Number(this.#get('addTab', key, signup.sheetTab)?.['id']),
        name: signup.sheetTab,
      }
      this.#tabs.set(key, tab)
      opened.push(key)
    }
    const { id, receivedAt, email, source, name, tags, metadata } = signup
    const tagsText = tags.length === 0 ? '' : JSON.stringify(tags)
    this.#run('addSignup', id, tab.id, receivedAt, email, source, name, tagsText, metadata)
    return { id, sheetTab: tab.name, receivedAt }
  }

  *#pendingSignups(tab: PendingTab, after: number): Iterable<StoredSignup> {
    const rows = this.#statement('signupsOfTab').iterate(tab.id, after, Number.MAX_SAFE_INTEGER, -1)
    for (const row of rows) yield toStored(row, tab.name)
  }

  #frozen(
    number: number,
    marker: number,
    digest: string,
    tabs: readonly TabSignups[],
  ): FrozenBatch {
    return { number, marker, fingerprint: `${this.#id}:${number}:${digest}`, tabs }
  }

  #markerFor(batch: number): number {
    const base = Number(this.#property('marker-base', () => String(randomMarkerBase())))
    return ((base + batch) % markerMax) + 1
  }

  #property(name: string, initial: () => string): string {
    const known = this.#get('property', name)
    if (known) return String(known['value'])
    const value = initial()
    this.#run('setProperty', name, value)
    return value
  }

  #loadTabs(): void {
    for (const row of this.#all('tabs')) {
      this.#tabs.set(String(row['key']), { id: Number(row['id']), name: String(row['name']) })
    }
  }

  #prepare(file: string): void {
    try {
      // FULL is set on every open: it is a property of the connection, not of the file.
      this.#db.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
      )
      this.#migrate()
    } catch (cause) {
      this.#db.close()
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`The journal ${file} cannot be opened: ${reason}.`, { cause })
    }
  }

  #migrate(): void {
    const version = Number(this.#db.prepare('PRAGMA user_version').get()?.['user_version'])
    if (version > migrations.length) {
      throw new Error(
        `it was written by a newer version of Rollcall (schema ${version}, this version knows ` +
          `${migrations.length}). Start the newer version, or give another DATA_DIR`,
      )
    }
    migrations.slice(version).forEach((sql, index) => {
      this.#transaction(() => {
        this.#db.exec(sql)
        this.#db.exec(`PRAGMA user_version = ${version + index + 1}`)
      })
    })
  }

  #transaction<T>(work: () => T): T {
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      // SQLite has rolled back by itself after some errors, a full disk among them.
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw toUnavailable(error)
    }
  }

  #read<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw toUnavailable(error)
    }
  }

  #statement(name: Name): StatementSync {
    let statement = this.#prepared.get(name)
    if (!statement) {
      statement = this.#db.prepare(statements[name])
      this.#prepared.set(name, statement)
    }
    return statement
  }

  #get(name: Name, ...values: SQLInputValue[]) {
    return this.#statement(name).get(...values)
  }

  #all(name: Name, ...values: SQLInputValue[]) {
    return this.#statement(name).all(...values)
  }

  /** Runs a statement and returns how many rows it changed. */
  #run(name: Name, ...values: SQLInputValue[]): number {
    return Number(this.#statement(name).run(...values).changes)
  }
}

function toStored(row: Record<string, SQLOutputValue>, tab: string): StoredSignup {
  const tags = String(row['tags'])
  return {
    position: Number(row['position']),
    bytes: Number(row['bytes']),
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

/** Tells batches with different contents apart, also those of a journal restored from a backup. */
function digestOf(tabs: readonly TabSignups[]): string {
  const hash = createHash('sha256')
  for (const { tab, signups } of tabs) {
    hash.update(JSON.stringify([tab, signups.length, signups[0]?.id, signups.at(-1)?.id]))
  }
  return hash.digest('hex').slice(0, 16)
}

function randomMarkerBase(): number {
  return randomInt(markerMax)
}

function notFrozen(batch: number): Error {
  return new Error(`Batch ${batch} is not frozen.`)
}

/** SQLite's errors (disk full, I/O, locked) become the journal's; errors of our own stay. */
function toUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  return new JournalUnavailable(`The journal cannot be used: ${error.message}.`, { cause: error })
}
