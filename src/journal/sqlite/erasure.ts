import type {
  Erasure,
  ErasedSlice,
  Named,
  RemovalOutcome,
  Tombstone,
  Unfinished,
} from '../erasure.ts'
import { addressHash } from '../hashes.ts'
import { restoredFact } from '../delivery-log.ts'
import { copiesFact, noteCopies } from './erase.ts'
import type { SqliteSite } from './site.ts'

/** How many positions one slice reads. That takes about a millisecond. */
const slicePositions = 1000
/** At most how many signups one transaction erases. */
const erasedAtOnce = 100

type Outcome = 'unwritten' | 'written' | 'frozen'

/** `is_ignored` of a signup that gets no row because it had one when a backup was restored. */
const hasRowAlready = 2

/** A signup with an address. */
interface Addressed {
  readonly position: number
  readonly email: string
}

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
          const outcome = this.#erase(position)
          if (outcome === 'unwritten') erased.unwritten += 1
          else if (outcome) erased[outcome].push(position)
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
    if (!db.emptyLog()) return false
    await db.write(() => db.run('deleteFact', id, copiesFact, String(noted)))
    return true
  }

  #bury(hash: string, upto: number): void {
    const { db, id } = this.#site
    db.run('setTombstone', id, hash, upto)
    db.run('dropKeptAddress', id, hash)
  }

  /** The signups with a tombstone after `after` up to `upto`, of this address or of all. */
  #between(after: number, upto: number, address: string | undefined): readonly Addressed[] {
    const { db, id } = this.#site
    const rows = db.all('addressesBetween', after, upto, id, address?.toLowerCase() ?? null)
    return rows
      .map(({ position, email }) => ({ position: Number(position), email: String(email) }))
      .filter((signup) => this.#isForgotten(signup))
  }

  #isForgotten({ position, email }: Addressed): boolean {
    const { db, id, secret } = this.#site
    const upto = db.get('tombstone', id, addressHash(secret, email))?.['upto']
    return upto !== undefined && position <= Number(upto)
  }

  #mentions(after: number, upto: number, address: string): number {
    const { db, id } = this.#site
    return Number(db.get('mentionsBetween', after, upto, id, address.toLowerCase())?.['count'])
  }

  /** Runs in a transaction. Undefined when another process has erased the signup meanwhile. */
  #erase(position: number): Outcome | undefined {
    const { db } = this.#site
    const row = db.get('erasable', position)
    if (!row || row['email'] === '') return undefined
    if (row['isIgnored'] === 0 && row['isFrozen'] === 1) {
      db.run('addRemoval', position, String(row['email']))
      return 'frozen'
    }
    // A signup that waits to be delivered once more counts as not written.
    if (db.run('dropRedelivery', Number(row['tab']), position) > 0)
      db.run('recountWritten', position)
    const isWritten = row['isIgnored'] === 0 && row['isWritten'] === 1
    const mayHaveRow = row['isIgnored'] === 0 && position <= this.#restoredTo()
    const hasRow = isWritten || mayHaveRow || row['isIgnored'] === hasRowAlready
    if (hasRow) db.run('addRemoval', position, String(row['email']))
    db.run('eraseSignup', position, Number(!isWritten))
    return hasRow ? 'written' : 'unwritten'
  }

  /**
   * Up to this position, a waiting signup of a restored journal may have a row, because the writer has
   * not yet compared it with the spreadsheet.
   */
  #restoredTo(): number {
    const { db, id } = this.#site
    return Number(db.get('fact', id, restoredFact)?.['value'] ?? 0)
  }

  #lastPosition(): number {
    return Number(this.#site.db.get('lastPosition')?.['position'] ?? 0)
  }
}

/** Name of the fact that has the outcome of a removal. */
function outcomeFact(position: number): string {
  return `removal of ${position}`
}
