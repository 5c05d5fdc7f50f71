import type { DeliveryLog, PendingTab } from '../journal/contracts/delivery-log.ts'
import type { Erasure } from '../journal/contracts/erasure.ts'
import { JournalUnavailable, Overtaken } from '../journal/contracts/errors.ts'
import type { Events } from '../ops/events.ts'
import { type Clock, type Random, second, untilLook } from '../platform/clock.ts'
import type { Listeners } from '../platform/listeners.ts'
import type { FrozenBatch } from '../signup/batch.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import type { NamedTab, Refused, Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type AfterRestoreOptions, isRestoreDone } from './after-restore.ts'
import { AsideTabs } from './aside.ts'
import { Attempts } from './attempts.ts'
import { backoffMs } from '../spreadsheet/backoff.ts'
import { MarkerKeeper } from './marker-keeper.ts'
import { type Filled, fillBatch } from './fill.ts'
import { Inflow } from './inflow.ts'
import { Remover } from './remover.ts'
import type { BatchAllowance } from './account.ts'

export interface WriterOptions {
  readonly journal: DeliveryLog
  readonly erasure: Erasure
  readonly arrivals: AfterRestoreOptions['arrivals']
  readonly spreadsheet: Spreadsheet
  readonly clock: Clock
  readonly random: Random
  readonly events: Events
  /** How often an idle writer looks whether another process has appended. */
  readonly lookEveryMs: Millis
  readonly allowance: BatchAllowance
  /** Told when somebody was erased whose rows are to be removed at once. */
  readonly erased: Listeners<undefined>
  /** Whether to end the frozen batch and to remove rows only. No new batch is frozen then. */
  readonly removesOnly?: boolean
}

/** How often a writer that only removes rows looks for work. */
const removesOnlyMs = 100

/** How often a writer looks for rows to remove: of who has left, and of whom another process has erased. */
const removalsEveryMs = 5 * second

/**
 * The writer takes signups from the journal to the spreadsheet, one batch at a time.
 *
 *   OPENING      checks that the spreadsheet can be reached, so that a wrong key is reported at start.
 *                After a backup was restored, compares what waits with the rows
 *   IDLE         no signup waits. An append, a tab's next try or `stop` ends it. Now and then the
 *                writer checks whether another process has appended signups
 *   FREEZING     lets a burst arrive and waits for the pace, unless a batch is full already. Then freezes
 *                the next batch in the journal. Behind a full batch, rests first while signups come fast
 *   SENDING      the batch is on its way
 *   BACKING OFF  the batch was not applied, or that is unknown: it is sent again after a while
 *   BLOCKED      only a person can remove the reason: the batch is sent again now and then
 *   SETTING ASIDE  one tab cannot be written: the batch is given up, and frozen anew without that tab
 *   STOPPED      after the batch in flight has settled, or the grace period has ended
 *
 * Beside all that, once it is open, rows of forgotten people are removed.
 *
 * A batch leaves SENDING only as settled (it is in the spreadsheet) or released (it is certainly not
 * there and never will be). After a crash the journal still has the frozen batch, and the writer begins
 * with it. Only the writer decides on retries.
 *
 * Two writers on one journal waste calls but do no harm: both send the same frozen batch with the same
 * marker, and the journal lets one of them end it. The other writer checks that before each try.
 */
export class Writer {
  readonly #options: WriterOptions
  readonly #aside: AsideTabs
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  readonly #attempts: Attempts
  readonly #inflow: Inflow
  readonly #markers: MarkerKeeper
  readonly #remover: Remover
  readonly #startedAt: Millis
  /** The last batch that this process froze, and whether every try of it got a clear answer. */
  #own: { readonly number: number; isClear: boolean } | undefined
  #wake: AbortController | undefined
  /** Whether signups may wait that are in no batch. */
  #mayHaveMore = true
  /** Whether the last batch was a try of a tab set aside. Then the other tabs have their turn. */
  #triedAside = false
  #running: Promise<void> | undefined

  constructor(options: WriterOptions) {
    this.#options = options
    this.#aside = new AsideTabs(options)
    const parts = { ...options, stopping: this.#stopping.signal, giveUp: this.#giveUp.signal }
    this.#attempts = new Attempts(parts)
    const { linger } = options.spreadsheet.profile
    this.#inflow = new Inflow({ ...parts, attempts: this.#attempts, linger })
    this.#markers = new MarkerKeeper({ ...parts, attempts: this.#attempts })
    this.#remover = new Remover({
      ...parts,
      lookEveryMs: options.removesOnly ? removesOnlyMs : removalsEveryMs,
    })
    this.#startedAt = this.#now()
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends delivery. A batch in flight has `graceMs` to settle; otherwise it stays frozen. */
  async stop(graceMs: Millis): Promise<void> {
    this.#stopping.abort()
    const settled = new AbortController()
    const grace = this.#options.clock.sleep(graceMs, settled.signal)
    await Promise.race([this.#running, grace])
    this.#giveUp.abort()
    settled.abort()
    await this.#running
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  async #run(): Promise<void> {
    const { journal } = this.#options
    const unsubscribe = journal.onAppend((added) => {
      this.#inflow.add(added)
      this.#mayHaveMore = true
      this.#wake?.abort()
    })
    let removing: Promise<void> | undefined
    try {
      let isOpen = false
      let failures = 0
      while (!this.#isStopping) {
        try {
          if (isOpen) await this.#turn()
          else isOpen = await this.#open()
          if (isOpen) removing ??= this.#remover.run()
          failures = 0
        } catch (error) {
          failures += 1
          this.#mayHaveMore = true
          await this.#recover(error, failures)
        }
      }
    } finally {
      unsubscribe()
      await removing
      await this.#markers.end()
    }
  }

  /** Waits after an error. What another writer did shows at the next turn, and is no failure. */
  async #recover(error: unknown, failures: number): Promise<void> {
    const { events, random } = this.#options
    if (error instanceof Overtaken) return this.#attempts.rest(backoffMs(failures, 0, random))
    const isOutage = error instanceof JournalUnavailable
    // Our own defects must not end delivery: they are retried like an outage.
    if (!isOutage) events.deliveryFailed(error)
    const message = isOutage ? error.message : 'Delivery failed unexpectedly'
    await this.#attempts.backOff(failures, { message })
  }

  async #open(): Promise<boolean> {
    const { spreadsheet, events } = this.#options
    await this.#markers.start()
    const opened = await this.#attempts.persist((signal) => spreadsheet.open(signal))
    const restore = { ...this.#options, attempts: this.#attempts, startedAt: this.#startedAt }
    if (opened?.kind !== 'open' || !(await isRestoreDone(restore))) return false
    events.deliveryStarted(spreadsheet.location)
    events.spreadsheetWarnings(spreadsheet.warnings)
    return true
  }

  async #turn(): Promise<void> {
    const { journal } = this.#options
    const left = await journal.frozenBatch()
    if (left) {
      // Note it before sending, because the process that froze the batch may send it too.
      if (left.number !== this.#own?.number) await journal.noteFound(left)
      return this.#deliver(left)
    }
    await this.#markers.keepUp()
    if (this.#options.removesOnly) return this.#attempts.rest(removesOnlyMs)
    await this.#aside.heedRetry()
    const dueTab = this.#triedAside && this.#mayHaveMore ? undefined : this.#aside.due
    if (!this.#mayHaveMore && dueTab === undefined) {
      this.#attempts.resume()
      return this.#idle()
    }
    const batch = await this.#freeze(dueTab)
    if (batch) await this.#deliver(batch)
  }

  /** FREEZING. A tab set aside whose next try is due gets its own batch, so that it holds no other back. */
  async #freeze(dueTab: string | undefined): Promise<FrozenBatch | undefined> {
    const { journal, spreadsheet, allowance, events } = this.#options
    if (dueTab === undefined) this.#mayHaveMore = false
    await this.#inflow.giveWay()
    // A full batch goes at once, because no wait makes it larger.
    const ready = dueTab === undefined ? await this.#fill() : undefined
    if (ready?.shares.length === 0) return undefined
    const full = ready?.isFull === true ? ready : undefined
    if (!full) {
      await this.#inflow.untilQuiet()
      // Another site of the account may take the token that this one waits for.
      for (let ms = allowance.wait(); ms > 0 && !this.#isStopping; ms = allowance.wait()) {
        await this.#attempts.rest(ms)
      }
    }
    if (!(await this.#markers.hasRoom())) {
      this.#mayHaveMore = true
      await this.#attempts.delay('Too many markers stand in the spreadsheet', 10 * second)
      return undefined
    }
    if (this.#isStopping) return undefined
    this.#triedAside = dueTab !== undefined
    const { shares } = full ?? (await this.#fill(dueTab))
    if (shares.length === 0) {
      // Another writer on the same journal has written what waited for that tab.
      if (dueTab !== undefined && this.#aside.remove(dueTab)) events.tabResumed(dueTab)
      return undefined
    }
    const batch = await journal.freeze(shares, spreadsheet.profile.markers.idMax)
    this.#mayHaveMore = true
    this.#own = { number: batch.number, isClear: true }
    this.#inflow.frozen({ isFull: full !== undefined })
    if (!full) allowance.take()
    return batch
  }

  /** Fills the next batch, of the tab whose try is due or of all that are not set aside. */
  async #fill(dueTab?: string): Promise<Filled> {
    const { journal, spreadsheet } = this.#options
    return fillBatch(journal, await this.#pending(dueTab), spreadsheet.profile)
  }

  /** SENDING, until the batch is settled or released, or the writer stops. */
  async #deliver(batch: FrozenBatch): Promise<void> {
    const { journal, spreadsheet, events } = this.#options
    let tries = 0
    const outcome = await this.#attempts.persist(async (signal) => {
      tries += 1
      const maySend = () => this.#isFrozen(batch)
      if (!(await maySend())) return endedElsewhere
      const result = await spreadsheet.write(batch, signal, maySend)
      if (result.kind === 'unknown' && this.#own) this.#own.isClear = false
      if (result.kind !== 'refused' || !result.tab) return result
      return { kind: 'refused tab', tab: result.tab, refused: result } as const
    })
    switch (outcome?.kind) {
      case undefined:
      case 'ended elsewhere':
        return
      case 'applied':
        return this.#settle(batch, tries)
      case 'abandoned':
        await journal.release(batch)
        return this.#markers.released(batch)
      case 'refused tab':
        return this.#setAside(batch, outcome.tab, outcome.refused)
      case 'foreign':
        // The foreign marker keeps every try of this batch out, so a new marker is safe.
        events.deliveryOddity(outcome.message)
        await journal.remark(batch, spreadsheet.profile.markers.idMax)
    }
  }

  /** Whether no other writer on the same journal has ended the batch. */
  async #isFrozen({ number, marker }: FrozenBatch): Promise<boolean> {
    const frozen = await this.#options.journal.frozen()
    return frozen?.number === number && frozen.marker === marker
  }

  async #settle(batch: FrozenBatch, tries: number): Promise<void> {
    const { journal, spreadsheet, clock, events } = this.#options
    const settledAt = this.#now()
    await journal.settle(batch.number, clock.now())
    const rows = batch.tabs.reduce((sum, { signups }) => sum + signups.length, 0)
    events.batchWritten(batch.number, rows, tries)
    events.spreadsheetWarnings(spreadsheet.warnings)
    for (const { tab } of batch.tabs) {
      if (this.#aside.remove(tab)) events.tabResumed(tab)
    }
    const isClear = this.#own?.number === batch.number && this.#own.isClear
    await this.#markers.settled(batch, { isClear, settledAt })
  }

  /** SETTING ASIDE: gives the batch up, so that the other tabs can go on without this one. */
  async #setAside(batch: FrozenBatch, tab: NamedTab, refused: Refused): Promise<void> {
    const { journal, spreadsheet, events } = this.#options
    const maySend = () => this.#isFrozen(batch)
    const end = await this.#attempts.persist(async (signal) =>
      (await maySend()) ? spreadsheet.abandon(batch, signal, maySend) : endedElsewhere,
    )
    // Another try than the refused one may have applied the batch.
    if (this.#own) this.#own.isClear = false
    if (end?.kind === 'applied') return this.#settle(batch, 1)
    if (end?.kind !== 'abandoned') return
    await journal.release(batch)
    await this.#markers.released(batch)
    await this.#aside.add(tab.name)
    events.tabSetAside(tab, refused)
  }

  /** IDLE until there is work. */
  async #idle(): Promise<void> {
    const next = Math.min(this.#markers.testAt, this.#aside.dueAt)
    const { clock, lookEveryMs } = this.#options
    const wake = new AbortController()
    this.#wake = wake
    const woken = AbortSignal.any([wake.signal, this.#stopping.signal])
    while (!woken.aborted && !this.#mayHaveMore && this.#now() < next) {
      await clock.sleep(Math.min(untilLook(clock, lookEveryMs), next - this.#now()), woken)
      if ((await this.#pending()).length > 0) this.#mayHaveMore = true
      else if (await this.#aside.heedRetry()) break
    }
    this.#wake = undefined
  }

  /** The tabs with waiting signups, whoever has appended them: the one that is due, or all not set aside. */
  async #pending(dueTab?: string): Promise<readonly PendingTab[]> {
    const pending = await this.#options.journal.pending()
    return pending.filter(({ name }) =>
      dueTab === undefined ? !this.#aside.has(name) : tabKey(name) === dueTab,
    )
  }

  #now(): Millis {
    return this.#options.clock.elapsed()
  }
}

/** Another writer on the same journal has settled, released or remarked the batch. */
const endedElsewhere = { kind: 'ended elsewhere' } as const
