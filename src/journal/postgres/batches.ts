import type { FrozenBatch, TabSignups } from '../../signup/batch.ts'
import { type Millis, tabKey } from '../../signup/signup.ts'
import { contents, digestOf, type Part, written } from '../batch-contents.ts'
import type { Fenced, TabShare } from '../contracts/delivery-log.ts'
import { hourOf } from '../contracts/figures.ts'
import type { TabCursor } from '../contracts/intake-log.ts'
import { Overtaken } from '../contracts/overtaken.ts'
import { fingerprintOf, markerFor, newMarkerBase } from '../site-code.ts'
import { batchSql as sql } from './batch-sql.ts'
import type { Transaction } from './database.ts'
import { openKey } from './default-tab.ts'
import { eraseReleased, eraseWritten } from './erase.ts'
import { addShares, assertUnmoved, erasedOf } from './freeze.ts'
import type { PostgresLease } from './lease.ts'
import { siteLock } from './locks.ts'
import { toWaiting } from './rows.ts'
import type { PostgresSite } from './site.ts'
import type { Row } from './statement.ts'

/**
 * The batches of one site. The statements of a transaction are sent together as far as possible, so to
 * freeze a batch takes four round trips, and to end it three.
 */
export class PostgresBatches {
  readonly #site: PostgresSite
  readonly #lease: Pick<PostgresLease, 'assertTerm'>

  constructor(site: PostgresSite, lease: Pick<PostgresLease, 'assertTerm'>) {
    this.#site = site
    this.#lease = lease
  }

  async frozen(): Promise<Fenced | undefined> {
    const batch = await this.#site.db.get(sql.frozen, this.#site.id)
    return batch && fencedOf(batch)
  }

  frozenBatch(): Promise<FrozenBatch | undefined> {
    const { db, id } = this.#site
    return db.snapshot(async (queries) => {
      const batch = await queries.get(sql.frozen, id)
      if (!batch) return undefined
      const { number, marker } = fencedOf(batch)
      const [fresh, again] = await Promise.all([
        queries.all(sql.signups, number),
        queries.all(sql.again, number),
      ])
      const tabs = contents(fresh.map(partOf), again.map(partOf))
      return this.#batch(number, marker, String(batch['digest']), tabs)
    })
  }

  /** Neither waits for an append, nor delays one. */
  async freeze(shares: readonly TabShare[], markerIdMax: number): Promise<FrozenBatch> {
    const { db, id, defaultTab } = this.#site
    if (!(await defaultTab.now()).isResolved) throw new Error('The default tab is not resolved.')
    const digest = digestOf(shares)
    return db.transaction(siteLock(id), async (transaction) => {
      const [frozen, erased, next] = await Promise.all([
        transaction.get(sql.frozen, id),
        erasedOf(transaction, shares),
        transaction.get(sql.nextNumber, id),
        assertUnmoved(transaction, shares),
      ])
      if (frozen) throw new Overtaken('A batch is frozen already.')
      const part = ({ tab, signups }: TabShare): Part => {
        return [tab.name, written(signups.filter(({ position }) => !erased.has(position)))]
      }
      const tabs = contents(
        shares.filter(({ tab }) => !tab.isAgain).map(part),
        shares.filter(({ tab }) => tab.isAgain).map(part),
      )
      const number = Number(next?.['number'])
      const marker = markerFor(Number(next?.['base']), number, markerIdMax)
      await Promise.all([
        transaction.run(sql.addBatch, number, id, digest),
        transaction.run(sql.addMarker, id, marker, number),
        addShares(transaction, number, shares),
      ])
      return this.#batch(number, marker, digest, tabs)
    })
  }

  async settle(batch: number, at: Millis): Promise<void> {
    const { db, id, settled, policy } = this.#site
    const cursors = await db.transaction(siteLock(id), async (transaction) => {
      const [, changed, ranges] = await Promise.all([
        this.#lease.assertTerm(transaction),
        transaction.run(sql.settle, id, batch, at, policy.spreadsheet),
        transaction.all(sql.cursors, batch),
        transaction.run(...eraseWritten(batch)),
        transaction.run(sql.moveCursors, batch),
        transaction.run(sql.endMarker, id, batch),
        transaction.run(sql.setLastSettled, id, at),
        transaction.run(sql.countHour, id, hourOf(at), batch),
        transaction.run(sql.addRedelivered, batch),
        transaction.run(sql.countRedelivered, batch),
        transaction.run(sql.deleteRedelivery, batch),
      ])
      // What the other statements have changed is taken back then.
      if (changed === 0) throw notFrozen(batch)
      const { name } = await this.#site.defaultTab.now(transaction)
      return ranges.flatMap((range) => cursorsOf(range, name))
    })
    settled.tell(cursors)
  }

  async release(batch: Fenced): Promise<void> {
    const { db, id } = this.#site
    const { number } = batch
    await db.transaction(siteLock(id), (transaction) =>
      Promise.all([
        this.#lease.assertTerm(transaction),
        this.#assertFrozen(transaction, batch),
        transaction.run(...eraseReleased(number)),
        transaction.run(sql.deleteRanges, number),
        transaction.run(sql.countErasedAgain, number),
        transaction.run(sql.dropErasedAgain, number),
        transaction.run(sql.releaseAgain, number),
        transaction.run(sql.deleteBatch, number),
        transaction.run(sql.endMarker, id, number),
      ]),
    )
  }

  async remark(batch: Fenced, markerIdMax: number): Promise<FrozenBatch> {
    const { db, id } = this.#site
    const { number } = batch
    const base = newMarkerBase()
    await db.transaction(siteLock(id), (transaction) =>
      Promise.all([
        this.#assertFrozen(transaction, batch),
        transaction.run(sql.setMarkerBase, id, base),
        transaction.run(sql.changeMarker, id, number, markerFor(base, number, markerIdMax)),
      ]),
    )
    const frozen = await this.frozenBatch()
    if (frozen?.number !== number) throw notFrozen(number)
    return frozen
  }

  async noteFound(batch: Fenced): Promise<void> {
    const { db, id } = this.#site
    await db.transaction(siteLock(id), (transaction) =>
      Promise.all([
        this.#assertFrozen(transaction, batch),
        transaction.run(sql.markFound, id, batch.number),
      ]),
    )
  }

  async #assertFrozen(transaction: Transaction, { number, marker }: Fenced): Promise<void> {
    const frozen = await transaction.get(sql.frozen, this.#site.id)
    if (frozen?.['number'] !== number || frozen['marker'] !== marker) throw notFrozen(number)
  }

  #batch(number: number, marker: number, digest: string, tabs: readonly TabSignups[]): FrozenBatch {
    return { number, marker, fingerprint: fingerprintOf(this.#site.code, number, digest), tabs }
  }
}

function fencedOf({ number, marker }: Row): Fenced {
  return { number: Number(number), marker: Number(marker) }
}

function partOf(row: Row): Part {
  const name = String(row['tabName'])
  return [name, written([toWaiting(row, name)])]
}

function cursorsOf({ name, upto }: Row, defaultTab: string): TabCursor[] {
  const tab = String(name)
  const isDefault = tabKey(tab) === tabKey(defaultTab)
  return (isDefault ? [tab, openKey] : [tab]).map((told) => ({ tab: told, upto: Number(upto) }))
}

function notFrozen(batch: number): Overtaken {
  return new Overtaken(`Batch ${batch} is not frozen.`)
}
