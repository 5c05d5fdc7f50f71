import type {
  Erasure,
  ErasedSlice,
  Named,
  RemovalOutcome,
  Tombstone,
  Unfinished,
} from '../contracts/erasure.ts'
import { addressHash } from '../hashes.ts'
import { copiesFact, eraseForgotten, isForgotten, noteCopies } from './erase.ts'
import type { SqliteSite } from './site.ts'

/** How many positions one slice reads. That takes about a millisecond. */
const slicePositions = 1000
/** At most how many signups one transaction erases. */
const erasedAtOnce = 100

export class SqliteErasure implements Erasure {
  readonly #site: SqliteSite

  constructor(site: SqliteSite) {
    this.#site = site
  }

  async forget(address: string): Promise<number> {
    const { db, secret } = this.#site
    return db.write(() => {
      const upto = this.#lastPosition()
      this.#bury(addressHash(secret, address), upto)
      return upto
    })
  }

  async eraseNext(after: number, address?: string): Promise<ErasedSlice> {
    // Let waiting requests run before each slice but the first.
    if (after > 0) await new Promise((resolve) => setImmediate(resolve))
    const { db } = this.#site
    const end = after + slicePositions
    const wanted = db.read(() => this.#between(after, end, address))
    const found = wanted.slice(0, erasedAtOnce)
    const erased = { unwritten: 0, written: [] as number[], frozen: [] as number[] }
    if (found.length > 0) {
      await db.write(() => {
        noteCopies(this.#site)
        for (const { position } of found) {
          const kind = eraseForgotten(this.#site, position)
          if (kind === 'unwritten') erased.unwritten += 1
          else if (kind) erased[kind].push(position)
        }
      })
    }
    const reached = wanted.length > found.length ? (found.at(-1)?.position ?? end) : end
    const mentions =
      address === undefined ? 0 : db.read(() => this.#mentions(after, reached, address))
    const next = db.read(() => this.#lastPosition()) > reached ? reached : undefined
    return { next, ...erased, mentions }
  }

  async tombstones(after = ''): Promise<readonly Tombstone[]> {
    const { db, id } = this.#site
    return db.read(() =>
      db
        .all('tombstones', id, after, 1000)
        .map(({ hash, upto }) => ({ hash: String(hash), upto: Number(upto) })),
    )
  }

  async adopt(tombstones: readonly Tombstone[]): Promise<void> {
    const { db } = this.#site
    await db.write(() => {
      const last = this.#lastPosition()
      for (const { hash, upto } of tombstones) {
        this.#bury(hash, Math.min(upto, last))
      }
    })
  }

  async removals(after: number): Promise<readonly Named[]> {
    const { db, id } = this.#site
    return db.read(() =>
      db.all('removals', id, after).map((row) => ({
        position: Number(row['position']),
        tab: String(row['tab']),
        email: String(row['email']),
        receivedAt: Number(row['receivedAt']),
      })),
    )
  }

  async removed(position: number, outcome: RemovalOutcome): Promise<void> {
    const { db, id } = this.#site
    await db.write(() => {
      if (db.run('deleteRemoval', position) === 0) return
      db.run('setFact', id, outcomeFact(position), JSON.stringify(outcome))
      noteCopies(this.#site)
    })
  }

  async takeOutcome(position: number): Promise<RemovalOutcome | undefined> {
    const { db, id } = this.#site
    const name = outcomeFact(position)
    const text = db.read(() => db.get('fact', id, name))?.['value']
    if (text === undefined) return undefined
    const deleted = await db.write(() => db.run('deleteFact', id, name, String(text)))
    return deleted === 0 ? undefined : (JSON.parse(String(text)) as RemovalOutcome)
  }

  async unfinished(): Promise<Unfinished> {
    const { db, id } = this.#site
    const row = db.read(() => db.get('countRemovals', id))
    return { removals: Number(row?.['removals']), frozen: Number(row?.['frozen']) }
  }

  async scrub(): Promise<boolean> {
    const { db, id } = this.#site
    const noted = db.read(() => db.get('fact', id, copiesFact))?.['value']
    if (noted === undefined) return true
    if (!db.dropCopies()) return false
    await db.write(() => db.run('deleteFact', id, copiesFact, String(noted)))
    return true
  }

  #bury(hash: string, upto: number): void {
    const { db, id } = this.#site
    db.run('setTombstone', id, hash, upto)
    db.run('dropKeptAddress', id, hash)
  }

  /** The signups with a tombstone after `after` up to `upto`, of this address or of all. */
  #between(after: number, upto: number, address: string | undefined) {
    const { db, id } = this.#site
    const rows = db.all('addressesBetween', after, upto, id, address?.toLowerCase() ?? null)
    return rows
      .map(({ position, email }) => ({ position: Number(position), email: String(email) }))
      .filter(({ position, email }) => isForgotten(this.#site, position, email))
  }

  #mentions(after: number, upto: number, address: string): number {
    const { db, id } = this.#site
    return Number(db.get('mentionsBetween', after, upto, id, address.toLowerCase())?.['count'])
  }

  #lastPosition(): number {
    return Number(this.#site.db.get('lastPosition')?.['position'] ?? 0)
  }
}

/** Name of the fact that has the outcome of a removal. */
function outcomeFact(position: number): string {
  return `removal of ${position}`
}
