import { existsSync, rmSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Quota } from '../contracts/call-ledger.ts'
import { noticesFact, replacedCodesFact, restoredFact } from '../contracts/delivery-log.ts'
import type { Tombstone } from '../contracts/erasure.ts'
import { newMarkerBase, newSiteCode } from '../site-code.ts'
import { JournalUnavailable } from '../contracts/unavailable.ts'
import { eraseUnsure } from './erase.ts'
import { SqliteDatabase } from './database.ts'
import { SqliteErasure } from './erasure.ts'
import { connect } from './connect.ts'
import { isOneOf } from './error-codes.ts'
import { noteNoRemains } from './old-remains.ts'
import { possibleCalls } from './possible-calls.ts'
import { codesOfSite, openSite, type SqliteSite } from './site.ts'
import type { SitePolicies } from '../contracts/journal.ts'
import { defaultPolicy, unknownPolicy } from '../contracts/policy.ts'

export interface RestoreOptions {
  /** The journal may have further sites, which are restored, too. */
  readonly policies: SitePolicies
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>
  /** The accounts that call the provider of the spreadsheets. */
  readonly accounts: readonly Account[]
  /** What is known of the journal that the restored one replaces. */
  readonly replaced?: Replaced | undefined
}

interface Account {
  readonly name: string
  readonly quota: Quota
}

/** What a restored journal needs of the one that it replaces. */
export interface Replaced {
  /** By name. */
  readonly sites: ReadonlyMap<string, ReplacedSite>
  /** The calls of the last day, by account. */
  readonly calls: ReadonlyMap<string, readonly Millis[]>
}

interface ReplacedSite {
  readonly tombstones: readonly Tombstone[]
  /** The codes of its fingerprints. */
  readonly codes: readonly string[]
}

/** What was restored. */
export interface Restored {
  readonly signups: number
  /** Signups that the writer compares with the spreadsheet before it writes them. */
  readonly waiting: number
  /** Signups of people who were forgotten after the backup. */
  readonly forgotten: number
  /** Whether calls since the backup are unknown, so that their quota counts as used up. */
  readonly isQuotaUnknown: boolean
}

/**
 * Makes a journal of the copy of a backup: with new markers and without a frozen batch. Its waiting
 * signups are noted to be compared with the spreadsheet.
 *
 * @throws Error when it is no journal of this version or an earlier one
 */
export async function makeRestored(
  copy: string,
  { policies, clock, accounts, replaced }: RestoreOptions,
): Promise<Restored> {
  // An index of addresses would keep remains of those that are erased here. The service makes a new one.
  const db = new SqliteDatabase(copy, { access: 'own', findsAddresses: false, clock })
  try {
    const unknown = db.all('sites').map(({ name }) => [String(name), unknownPolicy] as const)
    const sites = [...new Map([...unknown, ...policies])]
    const sum = { signups: 0, waiting: 0, forgotten: 0 }
    for (const [name, policy] of sites) {
      const site = openSite(db, name, { ...defaultPolicy, ...policy })
      const restored = await makeRestoredSite(site, replaced?.sites.get(name))
      sum.signups += restored.signups
      sum.waiting += restored.waiting
      sum.forgotten += restored.forgotten
    }
    for (const account of accounts) {
      noteCalls(db, account, clock.now(), replaced?.calls.get(account.name))
    }
    const isQuotaUnknown = accounts.length > 0 && replaced === undefined
    return { ...sum, isQuotaUnknown }
  } finally {
    db.close()
  }
}

async function makeRestoredSite(
  site: SqliteSite,
  replaced: ReplacedSite | undefined,
): Promise<Omit<Restored, 'isQuotaUnknown'>> {
  const { db, id } = site
  endFrozenBatch(site)
  const last = Number(db.get('lastPosition')?.['position'] ?? 0)
  await db.write(() => db.run('setFact', id, restoredFact, String(last)))
  const forgotten = await eraseForgotten(site, replaced?.tombstones ?? [])
  const { accepted, written } = db.get('totals', id) ?? {}
  const waiting = Number(accepted) - Number(written)
  await db.write(() => {
    db.run('setMarkerBase', newMarkerBase(), id)
    const codes = new Set([...codesOfSite(site), ...(replaced?.codes ?? [])])
    db.run('setFact', id, replacedCodesFact, [...codes].join(' '))
    db.run('setSiteCode', newSiteCode(), id)
    if (waiting === 0) db.run('setFact', id, restoredFact, '')
    // How delivery fared when the backup was made.
    db.run('dropFact', id, 'delivery')
    db.run('dropFact', id, noticesFact)
  })
  return { signups: Number(accepted), waiting, forgotten }
}

/**
 * Reads what a restored journal needs of this one. Puts all of it into its one file, without its log.
 * Undefined when the journal cannot be used.
 *
 * @throws JournalUnavailable when another process uses the journal
 */
export async function readReplaced(
  file: string,
  { policies, clock, accounts }: Omit<RestoreOptions, 'replaced'>,
): Promise<Replaced | undefined> {
  // Opening a damaged journal for writing could change it further.
  if (!isSound(file)) return undefined
  emptyLogOf(file)
  let db: SqliteDatabase
  try {
    db = new SqliteDatabase(file, { access: 'beside', findsAddresses: false, clock })
  } catch {
    return undefined
  }
  try {
    const sites = new Map<string, ReplacedSite>()
    for (const row of db.all('sites')) {
      const name = String(row['name'])
      const policy = policies.get(name) ?? unknownPolicy
      const site = openSite(db, name, { ...defaultPolicy, ...policy })
      sites.set(name, { tombstones: await tombstonesOf(site), codes: codesOfSite(site) })
    }
    const calls = accounts.map(({ name }) => {
      return [name, db.all('callsAfter', name, 0).map(({ at }) => Number(at))] as const
    })
    if (!db.emptyLog()) {
      throw new JournalUnavailable(
        'Another command uses the journal just now. Wait until it has ended.',
      )
    }
    return { sites, calls: new Map(calls) }
  } finally {
    db.close()
  }
}

async function tombstonesOf(site: SqliteSite): Promise<readonly Tombstone[]> {
  const erasure = new SqliteErasure(site)
  const all: Tombstone[] = []
  for (let page = await erasure.tombstones(''); page.length > 0;) {
    all.push(...page)
    page = await erasure.tombstones(page.at(-1)?.hash)
  }
  return all
}

/** SQLITE_IOERR and SQLITE_FULL. */
const cannotBeWritten = [10, 13]

/**
 * Copies a backup, with all that its log has, if it has one. Changes nothing in it.
 *
 * @throws Error when it is damaged or no journal
 */
export function copyBackup(from: string, to: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${to}${end}`, { force: true })
  // SQLite would make a missing file.
  if (!existsSync(from)) throw unusable(from, 'there is no such file. Check the name')
  // SQLite would wait for somebody who writes into a pipe.
  if (!statSync(from).isFile()) throw unusable(from, 'it is not a file. Give a backup')
  let backup: DatabaseSync | undefined
  try {
    backup = connect(from, { readOnly: true })
    const version = Number(backup.prepare('PRAGMA user_version').get()?.['user_version'])
    if (version === 0) throw new Error('it is no backup of a journal')
    const [finding] = Object.values(backup.prepare('PRAGMA integrity_check(1)').get() ?? {})
    if (finding !== 'ok') throw new Error('it is damaged. Take another backup')
    backup.prepare('VACUUM INTO ?').run(to)
    using copy = connect(to)
    noteNoRemains(copy)
  } catch (cause) {
    if (isOneOf(cause, cannotBeWritten)) {
      throw new Error(`${to} cannot be written. Free some space on its disk.`, { cause })
    }
    throw unusable(from, cause instanceof Error ? cause.message : String(cause), cause)
  } finally {
    backup?.close()
  }
}

function isSound(file: string): boolean {
  if (!existsSync(file)) return false
  try {
    using db = connect(file, { readOnly: true })
    const [finding] = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {})
    return finding === 'ok'
  } catch {
    return false
  }
}

/** Puts what the log has into the file, also for a journal of another version. */
function emptyLogOf(file: string): void {
  using db = connect(file)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}

function unusable(file: string, why: string, cause?: unknown): Error {
  return new Error(`${file} cannot be restored: ${why}.`, { cause })
}

const endings = [
  'deleteRanges',
  'countErasedAgain',
  'dropErasedAgain',
  'releaseAgain',
  'deleteBatch',
  'endMarker',
] as const

/** Its calls were made before the backup, so they have ended, and its rows are compared like all others. */
function endFrozenBatch(opened: SqliteSite): void {
  const { db, id } = opened
  db.transaction(() => {
    const number = Number(db.get('frozenBatch', id)?.['number'] ?? 0)
    if (number === 0) return
    eraseUnsure(opened, number)
    for (const name of endings) db.run(name, number)
  })
}

/** Erases the people who were forgotten after the backup. Whatever rows they have are to be removed. */
async function eraseForgotten(
  opened: SqliteSite,
  tombstones: readonly Tombstone[],
): Promise<number> {
  const erasure = new SqliteErasure(opened)
  await erasure.adopt(tombstones)
  let erased = 0
  for (let next: number | undefined = 0; next !== undefined;) {
    const slice = await erasure.eraseNext(next)
    erased += slice.unwritten + slice.written.length
    next = slice.next
  }
  return erased
}

/** Notes the calls that were made, or else all that may have been made since the backup. */
function noteCalls(
  db: SqliteDatabase,
  { name, quota }: Account,
  now: Millis,
  known: readonly Millis[] | undefined,
): void {
  db.transaction(() => {
    const own = db.all('callsAfter', name, 0).map(({ at }) => Number(at))
    // The last things that the backup knows: it was made after them.
    const signup = db.get('signupAt', Number(db.get('lastPosition')?.['position'] ?? 0))
    const settled = db.get('lastSettledOfAll')
    const times = [signup?.['receivedAt'], settled?.['at'], ...own.slice(-1)]
    const backupAt = Math.max(...times.map((at) => Number(at ?? 0)))
    const calls = known ?? possibleCalls(own, backupAt, now, quota)
    db.run('dropCalls', name)
    calls.forEach((at, index) => db.run('addCall', name, index + 1, at, 1))
  })
}
