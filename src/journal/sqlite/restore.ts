import type { Clock } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Quota } from '../contracts/call-ledger.ts'
import {
  deliveryFact,
  noticesFact,
  replacedCodesFact,
  restoredFact,
} from '../contracts/delivery-log.ts'
import type { Tombstone } from '../contracts/erasure.ts'
import { JournalUnavailable } from '../contracts/errors.ts'
import type { Restored, SitePolicies } from '../contracts/journal.ts'
import { ask, type Operation, reading, statementsOf } from '../sql.ts'
import { findFrozen, refOf, stepsToRelease } from '../tables/batches.ts'
import { callsAfter, replacingCalls } from '../tables/call-ledger.ts'
import { eraseHeld } from '../tables/erase.ts'
import { erasureOf, toTombstone } from '../tables/erasure.ts'
import { dropFact, factOf, setFact } from '../tables/facts.ts'
import { siteIds, readerOf } from '../tables/reader.ts'
import { guessedFact, stepToCountSeats, takenSeats } from '../tables/seats.ts'
import { codesOfSite, findSite, newMarkerBase, newSiteCode } from '../tables/site.ts'
import { connect, damageIn } from './connect.ts'
import { SqliteDatabase } from './database.ts'
import { appendConfirmed, takeDecisions } from './decisions.ts'
import { openSite, type SqliteSite } from './site.ts'

const sql = statementsOf('sqlite restore', {
  noteRestored: `INSERT INTO fact (site, name, value)
                 SELECT $1, $2, CAST(coalesce(max(position), 0) AS text) FROM signup WHERE true
                 ON CONFLICT (site, name) DO UPDATE SET value = excluded.value`,
  renew: 'UPDATE site SET code = $2, marker_base = $3 WHERE id = $1',
  lastTime: `SELECT max(
               coalesce((SELECT received_at FROM signup ORDER BY position DESC LIMIT 1), 0),
               coalesce((SELECT max(last_settled_at) FROM site), 0)) AS at`,
  tombstones: 'SELECT hash, upto FROM tombstone WHERE site = $1',
})

export interface RestoreOptions {
  /** Of the sites in the settings. The journal may have further ones, which are restored, too. */
  readonly policies: SitePolicies
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'sleep'>
  /** The accounts that call the provider of the spreadsheets. */
  readonly accounts: readonly Account[]
}

interface Account {
  readonly name: string
  readonly quota: Quota
}

/**
 * Makes a journal of the copy of a backup: with new markers and without a frozen batch. Its waiting
 * signups are noted to be compared with the spreadsheet.
 *
 * @param replaced the file of the journal that the restored one replaces. All of it is in this one file
 *   afterwards, without its log, unless it cannot be used
 * @throws Error when the copy is no journal of this version or an earlier one; JournalUnavailable when
 *   another process uses the replaced journal
 */
export async function makeRestored(
  copy: string,
  { policies, clock, accounts }: RestoreOptions,
  replaced?: string,
): Promise<Restored> {
  using old = replaced === undefined ? undefined : openReplaced(replaced, clock)
  if ((await old?.log.empty()) === false) {
    throw new JournalUnavailable(
      'Another command uses the journal just now. Wait until it has ended.',
    )
  }
  using db = new SqliteDatabase(copy, { access: 'own', clock })
  const names = [...(await siteIds(db)).keys()]
  const unknown = names.map((name) => [name, {}] as const)
  const sum = { signups: 0, waiting: 0, forgotten: 0 }
  const given = new Map([...unknown, ...policies])
  const pairs = await Promise.all(
    Array.from(given, async ([name, policy]) => {
      return { site: openSite(db, name, policy), replaced: await readSite(name, old) }
    }),
  )
  const sites = pairs.map(({ site }) => site)
  if (old) await appendConfirmed(sites, old.file)
  for (const { site, replaced } of pairs) {
    const restored = await makeRestoredSite(site, replaced, old?.file)
    sum.signups += restored.signups
    sum.waiting += restored.waiting
    sum.forgotten += restored.forgotten
  }
  for (const account of accounts) {
    const known = old && (await reading(old, callTimes(account.name)))
    await db.transact([], () => notingCalls(account, clock.now(), known))
  }
  return { ...sum, isBlind: !old, isQuotaUnknown: !old && accounts.length > 0 }
}

/** Undefined when the journal cannot be used. */
function openReplaced(file: string, clock: RestoreOptions['clock']): SqliteDatabase | undefined {
  try {
    // Opening a damaged journal for writing could change it further.
    if (!isSound(file)) return undefined
    return new SqliteDatabase(file, { access: 'beside', clock })
  } catch {
    return undefined
  }
}

function isSound(file: string): boolean {
  using db = connect(file, { readOnly: true })
  return damageIn(db, 'quick_check') === undefined
}

/** What a restored site needs of the replaced one: who was forgotten, and the codes of its fingerprints. */
interface ReplacedSite {
  readonly tombstones: readonly Tombstone[]
  readonly codes: readonly string[]
  /** How many seats were taken there; undefined when nothing tells it. */
  readonly seats: number | undefined
  /** Undefined when that journal cannot be used, or does not have the site. */
  readonly id?: number
}

async function readSite(name: string, old: SqliteDatabase | undefined): Promise<ReplacedSite> {
  const site = old && (await reading(old, findSite(name)))
  if (!site) return { tombstones: [], codes: [], seats: old && 0 }
  const isGuess = (await reading(old, factOf(site.id, guessedFact))) !== undefined
  const [{ rows }] = await old.query([sql.tombstones, site.id])
  return {
    seats: isGuess ? undefined : await reading(old, takenSeats(site.id)),
    tombstones: rows.map(toTombstone),
    codes: await reading(old, codesOfSite(site)),
    id: site.id,
  }
}

async function makeRestoredSite(
  site: SqliteSite,
  replaced: ReplacedSite,
  file: string | undefined,
): Promise<Omit<Restored, 'isBlind' | 'isQuotaUnknown'>> {
  const { db, id } = site
  await db.transact([], () => endingFrozenBatch(site))
  const forgotten = await eraseListed(site, replaced.tombstones)
  // Behind that, as who has left is still known by their links.
  if (file !== undefined && replaced.id) await takeDecisions(site, replaced.id, file)
  const reader = readerOf(site)
  const figures = await reader.figures()
  const { waiting } = figures
  const { after } = site.policy.closing ?? {}
  // Until the comparison tells, no seat is given that somebody may have.
  const { seats = after ?? 0 } = replaced
  const lost = Math.max(0, seats - (await reader.seatsTaken()))
  // Signups that only the spreadsheet has take seats.
  const isCompared = waiting > 0 || after !== undefined
  await db.transact([], function* () {
    const codes = new Set([...(yield* codesOfSite(site)), ...replaced.codes])
    yield* ask(
      setFact(id, replacedCodesFact, [...codes].join(' ')),
      [sql.renew, id, newSiteCode(), newMarkerBase()],
      ...(isCompared ? [] : [setFact(id, restoredFact, '')]),
      // Until that is compared.
      stepToCountSeats(id, 'lost', lost),
      ...(replaced.seats === undefined ? [setFact(id, guessedFact, '')] : []),
      // How delivery fared when the backup was made.
      dropFact(id, deliveryFact),
      dropFact(id, noticesFact),
    )
  })
  return { signups: figures.all.accepted, waiting, forgotten }
}

/**
 * Notes up to where signups are to be compared. The calls of a frozen batch were made before the backup, so
 * they have ended, and its rows are compared like all others.
 */
function* endingFrozenBatch(site: SqliteSite): Operation<void> {
  const { id } = site
  const [{ rows }] = yield* ask(findFrozen(id))
  const batch = refOf(rows)
  const ending = batch
    ? [...eraseHeld(site, batch.number), ...stepsToRelease(id, batch.number)]
    : []
  yield* ask(...ending, [sql.noteRestored, id, restoredFact])
}

/** Erases the people who were forgotten after the backup. Whatever rows they have are to be removed. */
async function eraseListed(site: SqliteSite, tombstones: readonly Tombstone[]): Promise<number> {
  const erasure = erasureOf(site)
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
function* notingCalls(
  { name, quota }: Account,
  now: Millis,
  known: readonly Millis[] | undefined,
): Operation<void> {
  const own = yield* callTimes(name)
  // The last things that the backup knows: it was made after them.
  const [{ rows }] = yield* ask([sql.lastTime])
  const backupAt = Math.max(Number(rows[0]?.['at']), ...own.slice(-1))
  // As one list: so many steps are too many for the arguments of a call.
  yield replacingCalls(name, known ?? possibleCalls(own, backupAt, now, quota))
}

function* callTimes(account: string): Operation<readonly Millis[]> {
  return (yield* callsAfter(account, 0)).map(({ at }) => at)
}

/** The ledger's windows are a second longer than a minute and a day. */
const minute = 61 * 1000
const day = 24 * 60 * 60 * 1000 + 1000

/**
 * The times of all calls that an account may have made: those that a backup knows, and as many as the
 * quota allowed since then, as late as possible. So the windows are as full as they can be.
 *
 * @param known the calls that the backup has, ascending
 * @param backupAt a time at which the backup was not yet made
 */
function possibleCalls(
  known: readonly Millis[],
  backupAt: Millis,
  now: Millis,
  { perMinute, perDay }: Quota,
): readonly Millis[] {
  // A clock that was set back shows nothing.
  const since = backupAt > now ? now - day : Math.max(backupAt, now - day)
  const possible: Millis[] = []
  for (let at = now; possible.length < perDay && at > since - minute; at -= minute) {
    const count = Math.min(perMinute, perDay - possible.length)
    possible.push(...Array<Millis>(count).fill(Math.ceil(at)))
  }
  const earlier = known.filter((at) => at <= since)
  return [...earlier, ...possible].sort((one, other) => one - other)
}
