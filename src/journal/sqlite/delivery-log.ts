import type { SQLOutputValue } from 'node:sqlite'

import type { FrozenBatch, Marked, TabSignups } from '../../signup/batch.ts'
import { type Millis, type Signup, tabKey } from '../../signup/signup.ts'
import { contents, digestOf, type Part, written } from '../batch-contents.ts'
import type {
  DeliveryLog,
  EndedMarker,
  Fenced,
  PendingTab,
  RunningTime,
  RunningTimeNote,
  TabShare,
  WaitingSlice,
} from '../contracts/delivery-log.ts'
import type { DefaultTab, TabCursor } from '../contracts/intake-log.ts'
import { hourOf } from '../contracts/figures.ts'
import { Overtaken } from '../contracts/overtaken.ts'
import { fingerprintOf, isOfCodes, markerFor, newMarkerBase } from '../site-code.ts'
import { openKey } from './default-tab.ts'
import { eraseReleased, eraseWritten } from './erase.ts'
import { toWaiting } from './rows.ts'
import { codesOfSite, type SqliteSite } from './site.ts'
import { sliceRows } from './statements.ts'

export class SqliteDeliveryLog implements DeliveryLog {
  readonly #site: SqliteSite

  constructor(site: SqliteSite) {
    this.#site = site
  }

  get defaultTab(): DefaultTab {
    return this.#site.defaultTab.current
  }

  async resolveDefaultTab(name: string): Promise<DefaultTab> {
    return this.#site.defaultTab.resolve(name)
  }

  onAppend(listener: (added: number) => void): () => void {
    return this.#site.appended.add(listener)
  }

  async frozen(): Promise<Fenced | undefined> {
    const batch = this.#site.db.read(() => this.#frozenRow())
    return batch && { number: Number(batch['number']), marker: Number(batch['marker']) }
  }

  async frozenBatch(): Promise<FrozenBatch | undefined> {
    const { db } = this.#site
    return db.read(() => {
      const batch = this.#frozenRow()
      if (!batch) return undefined
      const number = Number(batch['number'])
      const ranges = db.all('rangesOfBatch', number).map((range): Part => {
        const { tab, name, after, upto } = range
        const rows = db.all('signupsOfRange', Number(tab), Number(after), Number(upto))
        return [String(name), written(rows.map((row) => toWaiting(row, String(name))))]
      })
      const again = db.all('againInBatch', number).map((row): Part => {
        const name = String(row['tabName'])
        return [name, written([toWaiting(row, name)])]
      })
      const tabs = contents(ranges, again)
      return this.#batch(number, Number(batch['marker']), String(batch['digest']), tabs)
    })
  }

  async pending(): Promise<readonly PendingTab[]> {
    return this.#site.db.read(() => this.#pendingTabs())
  }

  async waiting(tab: PendingTab, after?: number): Promise<WaitingSlice> {
    // Let waiting requests run before each slice but the first.
    if (after !== undefined) await new Promise((resolve) => setImmediate(resolve))
    const { db } = this.#site
    const from = after ?? tab.writtenTo
    const rows = db.read(() => db.all(tab.isAgain ? 'signupsAgain' : 'signupsOfTab', tab.id, from))
    const signups = rows.map((row) => toWaiting(row, tab.name))
    return { signups, hasMore: rows.length === sliceRows }
  }

  async freeze(shares: readonly TabShare[], markerIdMax: number): Promise<FrozenBatch> {
    const { db, id, defaultTab } = this.#site
    if (!db.read(() => defaultTab.now()).isResolved)
      throw new Error('The default tab is not resolved.')
    return db.write(() => {
      if (this.#frozenRow()) throw new Overtaken('A batch is frozen already.')
      const again = shares.filter(({ tab }) => tab.isAgain)
      const fresh = shares.filter(({ tab }) => !tab.isAgain)
      const pending = this.#pendingTabs().filter(({ isAgain }) => !isAgain)
      const now = new Map(pending.map((tab) => [tab.id, tab.writtenTo]))
      if (fresh.some(({ tab }) => now.get(tab.id) !== tab.writtenTo)) throw endedMeanwhile()
      const part = (share: TabShare): Part => [share.tab.name, this.#unerased(share)]
      const tabs = contents(fresh.map(part), again.map(part))
      const digest = digestOf(shares)
      const number = Number(db.get('addBatch', id, digest)?.['number'])
      const marker = this.#markerFor(number, markerIdMax)
      db.run('addMarker', id, marker, number)
      for (const { tab, signups } of fresh) {
        const upto = signups.at(-1)?.position ?? tab.writtenTo
        db.run('addRange', tab.id, upto, tab.writtenTo, number, signups.length)
      }
      for (const { tab, signups } of again) {
        const [first = 0, last = 0] = [signups[0]?.position, signups.at(-1)?.position]
        const held = db.run('freezeAgain', number, tab.id, first, last)
        if (held !== signups.length) throw endedMeanwhile()
      }
      return this.#batch(number, marker, digest, tabs)
    })
  }

  async settle(batch: number, at: Millis): Promise<void> {
    const { db, id, settled, policy } = this.#site
    const cursors = await db.write(() => {
      if (db.run('settleBatch', at, policy.spreadsheet, batch, id) === 0) throw notFrozen(batch)
      eraseWritten(this.#site, batch)
      db.run('moveCursors', batch)
      db.run('endMarker', batch)
      db.run('setLastSettled', at, id)
      db.run('countHourOfBatch', id, hourOf(at), batch)
      db.run('addRedelivered', batch)
      db.run('countRedelivered', batch)
      db.run('deleteRedelivery', batch)
      return db.all('rangesOfBatch', batch).flatMap((range) => this.#cursorsOf(range))
    })
    settled.tell(cursors)
  }

  async release(batch: Fenced): Promise<void> {
    const { db } = this.#site
    await db.write(() => {
      this.#assertFrozen(batch)
      eraseReleased(this.#site, batch.number)
      db.run('deleteRanges', batch.number)
      db.run('countErasedAgain', batch.number)
      db.run('dropErasedAgain', batch.number)
      db.run('releaseAgain', batch.number)
      db.run('deleteBatch', batch.number)
      db.run('endMarker', batch.number)
    })
  }

  async remark(batch: Fenced, markerIdMax: number): Promise<FrozenBatch> {
    const { db, id } = this.#site
    await db.write(() => {
      this.#assertFrozen(batch)
      db.run('setMarkerBase', newMarkerBase(), id)
      db.run('changeMarker', this.#markerFor(batch.number, markerIdMax), batch.number)
    })
    const frozen = await this.frozenBatch()
    if (frozen?.number !== batch.number) throw notFrozen(batch.number)
    return frozen
  }

  async noteFound(batch: Fenced): Promise<void> {
    const { db } = this.#site
    await db.write(() => {
      this.#assertFrozen(batch)
      db.run('markFound', batch.number)
    })
  }

  async endedMarkers(): Promise<readonly EndedMarker[]> {
    const { db, id: site } = this.#site
    return db.read(() =>
      db.all('endedMarkers', site).map(({ id, isFound, ripeAt }) => ({
        id: Number(id),
        isFound: isFound === 1,
        ripeAt: ripeAt === null ? undefined : Number(ripeAt),
      })),
    )
  }

  async noteRunningTime({ by, ms, seen, lives }: RunningTimeNote): Promise<RunningTime> {
    const { db, id: site } = this.#site
    return db.write(() => {
      const row = db.get('runningTime', site)
      const last = { ms: Number(row?.['ms']), by: String(row?.['by']) }
      const isAsSeen = seen?.by === last.by && seen.ms === last.ms
      if (seen && !isAsSeen && lives.size === 0) return last
      const next = { ms: last.ms + (isAsSeen && last.by === by ? ms : 0), by }
      db.run('setRunningTime', next.ms, by, site)
      for (const [id, life] of lives) db.run('ripenMarker', next.ms + life, site, id)
      return next
    })
  }

  async markerCount(): Promise<number> {
    const { db, id } = this.#site
    return db.read(() => Number(db.get('countMarkers', id)?.['count']))
  }

  async isOwn(fingerprint: string): Promise<boolean> {
    return this.#site.db.read(() => isOfCodes(codesOfSite(this.#site), fingerprint))
  }

  async adoptMarkers(standing: readonly Marked[]): Promise<void> {
    const { db, id } = this.#site
    const strays = () => {
      const codes = codesOfSite(this.#site)
      return standing.filter(({ marker, fingerprint }) => {
        return isOfCodes(codes, fingerprint) && db.get('marker', id, marker) === undefined
      })
    }
    if (db.read(strays).length === 0) return
    await db.write(() => {
      for (const { marker } of strays()) db.run('adoptMarker', id, marker)
    })
  }

  async forgetMarkers(markers: readonly number[]): Promise<void> {
    const { db, id } = this.#site
    await db.write(() => {
      for (const marker of markers) db.run('deleteMarker', id, marker)
    })
  }

  async fact(name: string): Promise<string | undefined> {
    const { db, id } = this.#site
    const row = db.read(() => db.get('fact', id, name))
    return row && String(row['value'])
  }

  async noteFact(name: string, value: string): Promise<void> {
    const { db, id } = this.#site
    await db.write(() => db.run('setFact', id, name, value))
  }

  /** The signups that get a row, without those that were erased after the writer has read them. */
  #unerased({ tab, signups }: TabShare): readonly Signup[] {
    const [first = 1, upto = 0] = [signups[0]?.position, signups.at(-1)?.position]
    const rows = this.#site.db.all('erasedBetween', tab.id, first - 1, upto)
    const erased = new Set(rows.map(({ position }) => Number(position)))
    return written(signups.filter(({ position }) => !erased.has(position)))
  }

  #frozenRow() {
    return this.#site.db.get('frozenBatch', this.#site.id)
  }

  #assertFrozen({ number, marker }: Fenced): void {
    const frozen = this.#frozenRow()
    if (frozen?.['number'] !== number || frozen['marker'] !== marker) throw notFrozen(number)
  }

  #cursorsOf(range: Record<string, SQLOutputValue>): TabCursor[] {
    const [tab, upto] = [String(range['name']), Number(range['upto'])]
    const isDefault = tabKey(tab) === tabKey(this.#site.defaultTab.now().name)
    return (isDefault ? [tab, openKey] : [tab]).map((told) => ({ tab: told, upto }))
  }

  #pendingTabs(): PendingTab[] {
    return this.#site.db.all('pending', this.#site.id).map((row) => ({
      id: Number(row['id']),
      name: String(row['name']),
      writtenTo: Number(row['writtenTo']),
      isAgain: row['isAgain'] === 1,
    }))
  }

  #batch(number: number, marker: number, digest: string, tabs: readonly TabSignups[]): FrozenBatch {
    return { number, marker, fingerprint: fingerprintOf(this.#site.code, number, digest), tabs }
  }

  #markerFor(batch: number, idMax: number): number {
    const base = Number(this.#site.db.get('markerBase', this.#site.id)?.['base'])
    return markerFor(base, batch, idMax)
  }
}

function endedMeanwhile(): Overtaken {
  return new Overtaken('Another writer has ended a batch meanwhile.')
}

function notFrozen(batch: number): Overtaken {
  return new Overtaken(`Batch ${batch} is not frozen.`)
}
