import { randomBytes, randomInt } from 'node:crypto'
import { replacedCodesFact } from '../contracts/delivery-log.ts'
import type { OwnedKey, TabCursor } from '../contracts/intake-log.ts'
import type { JournalPolicy } from '../contracts/journal.ts'
import type { Millis } from '../../signup/signup.ts'
import type { Secret } from '../hashes.ts'
import type { Listeners } from '../../platform/listeners.ts'
import { ask, type Database, type Operation, rowReader, statementsOf, type Step } from '../sql.ts'
import { factOf, setFact } from './facts.ts'

const sql = statementsOf('site', {
  find: 'SELECT id, code FROM site WHERE name = $1',
  add: `INSERT INTO site (id, name, code, marker_base)
        SELECT coalesce(max(id), 0) + 1, $1, $2, $3 FROM site WHERE true
        ON CONFLICT (name) DO NOTHING`,
})

/** One site of an open journal: the parts that its logs and its reader share. */
export interface Site {
  readonly db: Database
  readonly id: number
  readonly name: string
  /** Random. Part of each batch's fingerprint, so that batches of different journals differ. */
  readonly code: string
  readonly policy: JournalPolicy
  /** As `Journal.linkKey`, in base64. */
  readonly linkKey: string
  /** With which addresses and idempotency keys are hashed. */
  readonly secret: Secret
  /** The hash of an address where the site keeps people (`people.ts`); null elsewhere. */
  readonly hashOf: (address: string) => string | null
  /** The hash of an idempotency key. */
  readonly keyHashOf: (owned: OwnedKey) => string
  /** The time, by the clock that all machines of the journal share. */
  readonly now: () => Millis
  /** Gets the number of added signups after each commit of this process. */
  readonly appended: Listeners<number>
  /** Gets the cursors of the tabs of each batch that this process settles. */
  readonly settled: Listeners<readonly TabCursor[]>
  /**
   * Notes that copies are left of what the step before has erased, if it has changed anything. Part of the
   * same transaction.
   */
  readonly noteErased: () => readonly Step[]
  /** As `Erasure.scrub`. */
  readonly scrub: () => Promise<boolean>
}

/** What the tables know of a site. */
export type SiteRow = Pick<Site, 'id' | 'code'>

export const linkKeyFact = 'link key'

/** The key of the site's links, which is made if it is missing. */
export function* linkKeyOf(site: number): Operation<string> {
  const known = yield* factOf(site, linkKeyFact)
  if (known !== undefined) return known
  const made = randomBytes(32).toString('base64')
  yield* ask(setFact(site, linkKeyFact, made))
  return made
}

/** The site of this name; undefined when the journal does not have it yet. */
export function* findSite(name: string): Operation<SiteRow | undefined> {
  const [{ rows }] = yield* ask([sql.find, name])
  return rows[0] && siteOf(rows[0])
}

/** The site of this name, which is added if it is missing. It needs the lock of the head. */
export function* addSite(name: string): Operation<SiteRow> {
  const [, { rows }] = yield* ask([sql.add, name, newSiteCode(), newMarkerBase()], [sql.find, name])
  return siteOf(rows[0] ?? {})
}

/** The code of the site, and those of the journals that this one has replaced. */
export function* codesOfSite({ id, code }: SiteRow): Operation<readonly string[]> {
  const replaced = yield* factOf(id, replacedCodesFact)
  return [code, ...(replaced ?? '').split(' ').filter((one) => one !== '')]
}

const siteOf = rowReader({ id: Number, code: String })

/** A site's code is a part of each batch's fingerprint, so that batches of different journals differ. */
export function newSiteCode(): string {
  return randomBytes(4).toString('hex')
}

/** Where a site's marker ids begin, so that markers of different journals differ. */
export function newMarkerBase(): number {
  return randomInt(2 ** 31)
}

/** The marker of a batch: an id of 1 to `idMax`. */
export function markerFor(base: number, batch: number, idMax: number): number {
  return ((base + batch) % idMax) + 1
}

export function fingerprintOf(code: string, batch: number, digest: string): string {
  return `${code}:${batch}:${digest}`
}

/** Whether a batch with this fingerprint is of a journal with one of these codes. */
export function isOfCodes(codes: readonly string[], fingerprint: string): boolean {
  return codes.some((code) => fingerprint.startsWith(`${code}:`))
}
