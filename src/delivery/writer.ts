import { type DeliveryLog, type PendingTab, retryFact } from '../journal/contracts/delivery-log.ts'
import type { Erasure } from '../journal/contracts/erasure.ts'
import { JournalUnavailable, Overtaken } from '../journal/contracts/errors.ts'
import type { Events } from '../ops/events.ts'
import { type Clock, type Random, second } from '../platform/clock.ts'
import type { FrozenBatch } from '../signup/batch.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import type { NamedTab, Refused, Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type AfterRestoreOptions, isRestoreDone } from './after-restore.ts'
import { Attempts, type Blocked, blockedAgain } from './attempts.ts'
import { backoffMs } from '../spreadsheet/backoff.ts'
import { MarkerKeeper } from './marker-keeper.ts'
import { type Filled, fillBatch } from './fill.ts'
import { Remover } from './remover.ts'
import type { BatchAllowance } from './batch-allowance.ts'

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
  /** Whether to end the frozen batch and to remove rows only. No new batch is frozen then. */
  readonly removesOnly?: boolean
}

/** How often a writer that only removes rows looks for work. */
const removesOnlyMs = 100

/** What a signup takes of the event loop, about: docs/decisions/performance.md. */
const signupMs = 0.05

/** The longest rest of a writer that gives way: in the long run the quota of Google makes it as long. */
const giveWayMaxMs = second

/** How many signups within a quiet period make a burst. */
const burstFrom = 10

/** When more tabs are set aside, each waits longer, so that their tries leave calls for other tabs. */
const asideTabsMax = 4

/** When to try a tab again that was set aside. */
interface TabRetry extends Blocked {
  readonly retryAt: Millis
}

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
 *   REMOVING     rows of forgotten people are removed, in between batches
 *   STOPPED      after the batch in flight has settled, or the grace period has ended
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
  readonly #aside = new Map<string, TabRetry>()
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  readonly #attempts: Attempts
  readonly #markers: MarkerKeeper
  readonly #remover: Remover
  readonly #startedAt: Millis
  /** The last batch that this process froze, and whether every try of it got a clear answer. */
  #own: { readonly number: number; isClear: boolean } | undefined
  #wake: AbortController | undefined
  /** How many signups this process appended since the start. */
  #arrived = 0
  /** What `#arrived` was when the last batch was frozen that was full; undefined after another one. */
  #arrivedAtFull: number | undefined
  /** Whether signups may wait that are in no batch. */
  #mayHaveMore = true
  /** The last fact of `retryFact` that was heeded. */
  #retryAsked: string | undefined
  /** Whether the last batch was a try of a tab set aside. Then the other tabs have their turn. */
  #triedAside = false
  #running: Promise<void> | undefined

  constructor(options: WriterOptions) {
    this.#options = options
    const parts = { ...options, stopping: this.#stopping.signal, giveUp: this.#giveUp.signal }
    this.#attempts = new Attempts(parts)
    this.#markers = new MarkerKeeper({ ...parts, attempts: this.#attempts })
    this.#remover = new Remover(parts)
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
      this.#arrived += added
      this.#mayHaveMore = true
      this.#wake?.abort()
    })
    try {
      let isOpen = false
      let failures = 0
      while (!this.#isStopping) {
        try {
          if (isOpen) await this.#turn()
          else isOpen = await this.#open()
          failures = 0
        } catch (error) {
          failures += 1
          this.#mayHaveMore = true
          await this.#recover(error, failures)
        }
      }
    } finally {
      unsubscribe()
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
    const { journal, spreadsheet, events } = this.#options
    await this.#markers.start()
    const { name, isResolved } = journal.defaultTab
    const opened = await this.#attempts.persist((signal) =>
      spreadsheet.open(signal, isResolved ? undefined : name),
    )
    const own = { attempts: this.#attempts, remover: this.#remover, startedAt: this.#startedAt }
    const restore = { ...this.#options, ...own }
    if (opened?.kind !== 'open' || !(await isRestoreDone(restore))) return false
    const defaultTab = await journal.resolveDefaultTab(opened.onlyTab ?? name)
    events.deliveryStarted(spreadsheet.location, defaultTab.name)
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
    await this.#remover.keepUp()
    if (this.#options.removesOnly) return this.#attempts.rest(removesOnlyMs)
    await this.#heedRetry()
    const dueTab = this.#triedAside && this.#mayHaveMore ? undefined : this.#dueTab()
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
    await this.#giveWay()
    // A full batch goes at once, because no wait makes it larger.
    const ready = dueTab === undefined ? await this.#fill() : undefined
    if (ready?.shares.length === 0) return undefined
    const full = ready?.isFull === true ? ready : undefined
    if (!full) {
      await this.#linger()
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
      if (dueTab !== undefined && this.#aside.delete(dueTab)) events.tabResumed(dueTab)
      return undefined
    }
    const batch = await journal.freeze(shares, spreadsheet.profile.markers.idMax)
    this.#mayHaveMore = true
    this.#own = { number: batch.number, isClear: true }
    this.#arrivedAtFull = full && this.#arrived
    if (!full) allowance.take()
    return batch
  }

  /** Between full batches, rests for as long as the signups took that came meanwhile: they go first. */
  async #giveWay(): Promise<void> {
    const arrived = this.#arrived - (this.#arrivedAtFull ?? this.#arrived)
    const ms = Math.min(arrived * signupMs, giveWayMaxMs)
    if (ms >= 1) await this.#attempts.rest(ms)
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
        return this.#settle(batch, tries, outcome.notices)
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

  async #settle(batch: FrozenBatch, tries: number, notices: readonly string[] = []): Promise<void> {
    const { journal, spreadsheet, clock, events } = this.#options
    // They are true whether or not this writer is the one that settles the batch.
    for (const notice of notices) events.rowsMisplaced(notice)
    const settledAt = this.#now()
    await journal.settle(batch.number, clock.now())
    const rows = batch.tabs.reduce((sum, { signups }) => sum + signups.length, 0)
    events.batchWritten(batch.number, rows, tries)
    events.spreadsheetWarnings(spreadsheet.warnings)
    for (const { tab } of batch.tabs) {
      if (this.#aside.delete(tabKey(tab))) events.tabResumed(tab)
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
    if (end?.kind === 'applied') return this.#settle(batch, 1, end.notices)
    if (end?.kind !== 'abandoned') return
    await journal.release(batch)
    await this.#markers.released(batch)
    const key = tabKey(tab.name)
    if (this.#aside.size === 0) this.#retryAsked = await journal.fact(retryFact)
    const { waitMs, ...again } = blockedAgain(this.#aside.get(key), this.#now())
    const share = Math.max(1, this.#aside.size / asideTabsMax)
    this.#aside.set(key, { ...again, retryAt: this.#now() + waitMs * share })
    events.tabSetAside(tab, refused)
  }

  /** Makes the tries of all tabs set aside due when an operator asks for it. Returns whether that is so. */
  async #heedRetry(): Promise<boolean> {
    if (this.#aside.size === 0) return false
    const asked = await this.#options.journal.fact(retryFact)
    if (asked === this.#retryAsked) return false
    this.#retryAsked = asked
    for (const [key, retry] of this.#aside) this.#aside.set(key, { ...retry, retryAt: this.#now() })
    return true
  }

  /** The tab set aside whose next try is due, if there is one. */
  #dueTab(): string | undefined {
    for (const [key, { retryAt }] of this.#aside) if (retryAt <= this.#now()) return key
    return undefined
  }

  /** Lets a burst arrive: waits until no signup came for a moment, but not too long. */
  async #linger(): Promise<void> {
    const { quietMs, maxMs, burstMaxMs } = this.#options.spreadsheet.profile.linger
    const start = this.#now()
    for (let lingerMs = maxMs; this.#now() - start < lingerMs && !this.#isStopping;) {
      const seen = this.#arrived
      await this.#attempts.rest(quietMs)
      const arrived = this.#arrived - seen
      if (arrived === 0) return
      lingerMs = arrived >= burstFrom ? burstMaxMs : maxMs
    }
  }

  /** IDLE until there is work. */
  async #idle(): Promise<void> {
    const times = [...this.#aside.values()].map(({ retryAt }) => retryAt)
    const next = Math.min(this.#markers.testAt, ...times)
    const { clock } = this.#options
    const wake = new AbortController()
    this.#wake = wake
    const woken = AbortSignal.any([wake.signal, this.#stopping.signal])
    while (!woken.aborted && !this.#mayHaveMore && this.#now() < next) {
      await clock.sleep(Math.min(this.#untilLook(), next - this.#now()), woken)
      if ((await this.#pending()).length > 0) this.#mayHaveMore = true
      else if ((await this.#remover.isDue()) || (await this.#heedRetry())) break
    }
    this.#wake = undefined
  }

  /** All writers of a process look at the same moments, so that their looks can share a round trip. */
  #untilLook(): Millis {
    const { lookEveryMs } = this.#options
    return 1.5 * lookEveryMs - ((this.#now() + lookEveryMs / 2) % lookEveryMs)
  }

  /** The tabs with waiting signups, whoever has appended them: the one that is due, or all not set aside. */
  async #pending(dueTab?: string): Promise<readonly PendingTab[]> {
    const pending = await this.#options.journal.pending()
    return pending.filter(({ name }) =>
      dueTab === undefined ? !this.#aside.has(tabKey(name)) : tabKey(name) === dueTab,
    )
  }

  #now(): Millis {
    return this.#options.clock.elapsed()
  }
}

/** Another writer on the same journal has settled, released or remarked the batch. */
const endedElsewhere = { kind: 'ended elsewhere' } as const
