import type { FrozenBatch, Marked } from '../../signup/batch.ts'
import type { Millis } from '../../signup/signup.ts'
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
import type { DefaultTab } from '../contracts/intake-log.ts'
import { PostgresBatches } from './batches.ts'
import { factNow, settingFact } from './facts.ts'
import type { PostgresLease } from './lease.ts'
import { siteLock } from './locks.ts'
import { PostgresMarkers } from './markers.ts'
import type { PostgresSite } from './site.ts'
import { pendingTabs, WaitingSignups } from './waiting.ts'

export class PostgresDeliveryLog implements DeliveryLog {
  readonly #site: PostgresSite
  readonly #batches: PostgresBatches
  readonly #markers: PostgresMarkers
  readonly #waiting: WaitingSignups

  constructor(site: PostgresSite, lease: Pick<PostgresLease, 'assertTerm'>) {
    this.#site = site
    this.#batches = new PostgresBatches(site, lease)
    this.#markers = new PostgresMarkers(site)
    this.#waiting = new WaitingSignups(site)
  }

  get defaultTab(): DefaultTab {
    return this.#site.defaultTab.current
  }

  resolveDefaultTab(name: string): Promise<DefaultTab> {
    return this.#site.defaultTab.resolve(name)
  }

  onAppend(listener: (added: number) => void): () => void {
    return this.#site.appended.add(listener)
  }

  pending(): Promise<readonly PendingTab[]> {
    return pendingTabs(this.#site)
  }

  waiting(tab: PendingTab, after = tab.writtenTo, wanted = Infinity): Promise<WaitingSlice> {
    return this.#waiting.read(tab, after, wanted)
  }

  frozen(): Promise<Fenced | undefined> {
    return this.#batches.frozen()
  }

  frozenBatch(): Promise<FrozenBatch | undefined> {
    return this.#batches.frozenBatch()
  }

  freeze(shares: readonly TabShare[], markerIdMax: number): Promise<FrozenBatch> {
    return this.#batches.freeze(shares, markerIdMax)
  }

  settle(batch: number, at: Millis): Promise<void> {
    return this.#batches.settle(batch, at)
  }

  release(batch: Fenced): Promise<void> {
    return this.#batches.release(batch)
  }

  remark(batch: Fenced, markerIdMax: number): Promise<FrozenBatch> {
    return this.#batches.remark(batch, markerIdMax)
  }

  noteFound(batch: Fenced): Promise<void> {
    return this.#batches.noteFound(batch)
  }

  endedMarkers(): Promise<readonly EndedMarker[]> {
    return this.#markers.ended()
  }

  noteRunningTime(note: RunningTimeNote): Promise<RunningTime> {
    return this.#markers.noteRunningTime(note)
  }

  markerCount(): Promise<number> {
    return this.#markers.count()
  }

  isOwn(fingerprint: string): Promise<boolean> {
    return this.#markers.isOwn(fingerprint)
  }

  adoptMarkers(standing: readonly Marked[]): Promise<void> {
    return this.#markers.adopt(standing)
  }

  forgetMarkers(markers: readonly number[]): Promise<void> {
    return this.#markers.forget(markers)
  }

  fact(name: string): Promise<string | undefined> {
    return factNow(this.#site.db, this.#site.id, name)
  }

  async noteFact(name: string, value: string): Promise<void> {
    const { db, id } = this.#site
    await db.inOneGo(siteLock(id), [settingFact(id, name, value)])
  }
}
