import { type BatchLimits, type Journal, JournalUnavailable } from '../journal/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Clock, Random } from '../platform/clock.ts'
import type { FrozenBatch } from '../signup/batch.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import type {
  Abandoned,
  Refused,
  Retryable,
  Spreadsheet,
  Unknown,
} from '../spreadsheet/spreadsheet.ts'
import { backoffMs, blockedRetryMs } from './backoff.ts'
import { refilled, type TokenBucket, type Tokens, waitForToken } from './pace.ts'

export interface WriterOptions {
  readonly journal: Journal
  readonly spreadsheet: Spreadsheet
  readonly clock: Clock
  readonly random: Random
  readonly events: Events
  readonly limits: BatchLimits
  /** How often a batch may be sent. */
  readonly bucket: TokenBucket
  /** How long to wait for more signups before a batch is frozen: until none came for `quietMs`. */
  readonly linger: { readonly quietMs: Millis; readonly maxMs: Millis }
  /** How many markers may stand in the spreadsheet at once; Infinity where it needs none. */
  readonly markersMax: number
}

const second = 1000
const minute = 60 * second

/**
 * How long a marker outlives its batch. A call that was given up may be applied for 180 s more, by
 * Google's documentation; until then the marker must be there to refuse it.
 */
const markerLifeMs = 15 * minute

/** The fence is tested when the first batch of a spreadsheet has been in it for this long. */
const fenceTestAfterMs = minute

/** A call for pruning is worth it from this many markers on. */
const pruneFrom = 10

/** Longest sleep: a timer holds no more than 2^31 ms. */
const idleMaxMs = 60 * minute

/** A tab that cannot be written just now. */
interface AsideTab {
  readonly since: Millis
  readonly tries: number
  readonly retryAt: Millis
}

/**
 * The writer takes signups from the journal to the spreadsheet, one batch at a time.
 *
 *   OPENING      looks whether the spreadsheet can be reached, so that a wrong key is told at start
 *   IDLE         nothing waits; an append, a tab's next try or `stop` ends it
 *   FREEZING     lets a burst arrive, waits for the pace, then freezes the next batch in the journal
 *   SENDING      the batch is on its way
 *   BACKING OFF  it was not applied, or nobody knows: the same batch goes again after a while
 *   BLOCKED      only a person can mend it: the same batch goes again now and then
 *   SETTING ASIDE  one tab cannot be written: the batch is given up, and frozen anew without that tab
 *   STOPPED      after the batch in flight has settled, or the grace period has ended
 *
 * A batch leaves SENDING only as settled (it is in the spreadsheet) or released (it is certain that
 * it is not and never will be). After a crash the journal still holds the frozen batch, and the writer
 * begins with it. This is the only place that decides on retries.
 */
export class Writer {
  readonly #options: WriterOptions
  readonly #aside = new Map<string, AsideTab>()
  /** Since when, on the elapsed clock, markers that ended in this process are ended. */
  readonly #markerEnded = new Map<number, Millis>()
  readonly #startedAt: Millis
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  #tokens: Tokens
  /** Aborts the current idle wait. */
  #wake: AbortController | undefined
  #appends = 0
  /** Whether signups may wait that no batch holds. */
  #mayHaveMore = true
  /** The batch that was frozen here and of which no try has an unknown outcome. */
  #certain: number | undefined
  #pruneNotBefore: Millis = 0
  /** A settled batch to test the fence with, and when; `tested` once it is known to hold. */
  #fence: { readonly batch: FrozenBatch; readonly testAt: Millis } | 'tested' | undefined
  #running: Promise<void> | undefined

  constructor(options: WriterOptions) {
    this.#options = options
    this.#startedAt = options.clock.elapsed()
    this.#tokens = { count: options.bucket.capacity, at: this.#startedAt }
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends delivery; a batch in flight has `graceMs` to settle. What is not settled stays frozen. */
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
    const unsubscribe = this.#options.journal.onAppend(() => {
      this.#appends += 1
      this.#mayHaveMore = true
      this.#wake?.abort()
    })
    try {
      await this.#open()
      let failures = 0
      while (!this.#isStopping) {
        try {
          await this.#turn()
          failures = 0
        } catch (error) {
          failures += 1
          await this.#backOff(failures, { kind: 'unknown', message: wordsOf(error), cause: error })
        }
      }
    } finally {
      unsubscribe()
    }
  }

  async #open(): Promise<void> {
    const { spreadsheet, events } = this.#options
    const opened = await this.#persist((signal) => spreadsheet.open(signal), never)
    if (!opened) return
    events.deliveryStarted(spreadsheet.location)
    events.spreadsheetWarnings(spreadsheet.warnings)
  }

  async #turn(): Promise<void> {
    const { journal } = this.#options
    const left = await journal.frozenBatch()
    if (left) return this.#deliver(left)
    await this.#testFence()
    await this.#pruneMarkers()
    const dueTab = this.#dueTab()
    if (!this.#mayHaveMore && dueTab === undefined) return this.#idle()
    const batch = await this.#freeze(dueTab)
    if (batch) await this.#deliver(batch)
  }

  /**
   * Once for each spreadsheet: a marker that exists must keep its batch out. Giving up a batch that is
   * settled has to fail with "it was applied"; where it succeeds, lost answers would mean double rows.
   */
  async #testFence(): Promise<void> {
    const { journal, spreadsheet } = this.#options
    if (this.#fence === undefined || this.#fence === 'tested') return
    const { batch, testAt } = this.#fence
    if (this.#now() < testAt) return
    const result = await this.#persist(async (signal): Promise<Abandoned> => {
      const end = await spreadsheet.abandon(batch, signal)
      return end.kind === 'abandoned' ? fenceBroken : end
    }, never)
    if (!result) return
    await journal.noteFact(fenceOf(spreadsheet), 'holds')
    this.#fence = 'tested'
  }

  /** Keeps the first batch that settles in a spreadsheet that is not known to hold the fence. */
  async #keepForFenceTest({ number, marker, fingerprint }: FrozenBatch): Promise<void> {
    const { journal, spreadsheet, markersMax } = this.#options
    if (this.#fence !== undefined || markersMax === Infinity) return
    const isTested = (await journal.fact(fenceOf(spreadsheet))) !== undefined
    const batch = { number, marker, fingerprint, tabs: [] }
    this.#fence = isTested ? 'tested' : { batch, testAt: this.#now() + fenceTestAfterMs }
  }

  /** FREEZING: a tab whose next try is due goes alone, so that it cannot hold the others back again. */
  async #freeze(dueTab: string | undefined): Promise<FrozenBatch | undefined> {
    const { journal, limits, events, bucket, markersMax } = this.#options
    await this.#linger()
    await this.#rest(waitForToken(this.#tokens, bucket, this.#now()))
    if ((await journal.markerCount()) >= markersMax) {
      events.deliveryDelayed('Too many markers stand in the spreadsheet', 10 * second)
      await this.#rest(10 * second)
      return undefined
    }
    if (this.#isStopping) return undefined
    if (dueTab === undefined) this.#mayHaveMore = false
    const batch = await journal.freeze(limits, (tab) =>
      dueTab === undefined ? !this.#aside.has(tabKey(tab)) : tabKey(tab) === dueTab,
    )
    if (batch) {
      this.#mayHaveMore = true
      this.#certain = batch.number
      const tokens = refilled(this.#tokens, bucket, this.#now())
      this.#tokens = { count: tokens.count - 1, at: tokens.at }
    } else if (dueTab !== undefined) {
      this.#aside.delete(dueTab)
    }
    return batch
  }

  /** SENDING, until the batch is settled or released, or the writer stops. */
  async #deliver(batch: FrozenBatch): Promise<void> {
    const { journal, spreadsheet, events } = this.#options
    let tries = 0
    const outcome = await this.#persist(async (signal) => {
      tries += 1
      const result = await spreadsheet.write(batch, signal)
      if (result.kind === 'unknown') this.#certain = undefined
      return result
    }, isAboutOneTab)
    if (!outcome) return
    switch (outcome.kind) {
      case 'applied':
        return this.#settle(batch, tries)
      case 'refused':
        return this.#setAside(batch, outcome)
      case 'foreign':
        events.deliveryOddity(outcome.message)
        await journal.remark(batch.number)
        // The foreign marker kept every try of this batch out.
        this.#certain = batch.number
    }
  }

  async #settle(batch: FrozenBatch, tries: number): Promise<void> {
    const { journal, spreadsheet, clock, events } = this.#options
    await journal.settle(batch.number, clock.now())
    this.#markerEnded.set(batch.marker, this.#now())
    const rows = batch.tabs.reduce((sum, { signups }) => sum + signups.length, 0)
    events.batchWritten(batch.number, rows, tries)
    events.spreadsheetWarnings(spreadsheet.warnings)
    await this.#keepForFenceTest(batch)
    for (const { tab } of batch.tabs) {
      if (this.#aside.delete(tabKey(tab))) events.tabResumed(tab)
    }
  }

  /** SETTING ASIDE: the batch without this tab may go on, once it is certain that it was not applied. */
  async #setAside(batch: FrozenBatch, { tab, message, hint }: Refused): Promise<void> {
    const { journal, spreadsheet, events } = this.#options
    if (tab === undefined) return
    if (this.#certain !== batch.number) {
      const end = await this.#persist((signal) => spreadsheet.abandon(batch, signal), never)
      if (!end) return
      if (end.kind === 'applied') return this.#settle(batch, 1)
    }
    await journal.release(batch.number)
    this.#markerEnded.set(batch.marker, this.#now())
    const known = this.#aside.get(tabKey(tab))
    const since = known?.since ?? this.#now()
    const tries = (known?.tries ?? 0) + 1
    const retryAt = this.#now() + blockedRetryMs(tries, this.#now() - since)
    this.#aside.set(tabKey(tab), { since, tries, retryAt })
    events.tabSetAside(tab, message, hint)
  }

  /**
   * Makes a call until it succeeds, fails in a way that `isFinal` wants to see, or the writer stops
   * (undefined). BACKING OFF after what may pass by itself, BLOCKED after what only a person can mend.
   */
  async #persist<T extends { readonly kind: string }>(
    call: (signal: AbortSignal) => Promise<T>,
    isFinal: (failure: Failure) => boolean,
  ): Promise<Exclude<T, Retryable | Unknown> | undefined> {
    const { events } = this.#options
    let blocked: { readonly since: Millis; readonly tries: number } | undefined
    for (let failures = 1; !this.#isStopping; failures++) {
      const result: T | Failure = await call(this.#giveUp.signal)
      if (!isFailure(result) || isFinal(result)) {
        if (blocked) events.deliveryResumed()
        return result as Exclude<T, Retryable | Unknown>
      }
      if (result.kind === 'refused') {
        blocked = { since: blocked?.since ?? this.#now(), tries: (blocked?.tries ?? 0) + 1 }
        failures = 0
        events.deliveryBlocked(result.message, result.hint)
        await this.#rest(blockedRetryMs(blocked.tries, this.#now() - blocked.since))
      } else {
        await this.#backOff(failures, result)
      }
    }
    return undefined
  }

  async #backOff(failures: number, { message, afterMs, cause }: Retryable | Unknown) {
    const { random, events } = this.#options
    const waitMs = backoffMs(failures, afterMs, random)
    events.deliveryDelayed(message, waitMs, cause)
    await this.#rest(waitMs)
  }

  /** Takes markers out of the spreadsheet when enough of them are old enough. */
  async #pruneMarkers(): Promise<void> {
    const { journal, spreadsheet, events } = this.#options
    const old = this.#now() - markerLifeMs
    // By the clock that never jumps: markers of an earlier process count from our own start.
    const markers = (await journal.endedMarkers()).filter(
      (marker) => (this.#markerEnded.get(marker) ?? this.#startedAt) <= old,
    )
    if (markers.length < pruneFrom || this.#now() < this.#pruneNotBefore) return
    this.#pruneNotBefore = this.#now() + minute
    const result = await spreadsheet.prune(markers, this.#giveUp.signal)
    if (result.kind !== 'pruned') {
      events.deliveryDelayed(result.message, 0)
      return
    }
    await journal.forgetMarkers(markers)
    for (const marker of markers) this.#markerEnded.delete(marker)
  }

  /** The tab that was set aside and whose next try is due. */
  #dueTab(): string | undefined {
    for (const [key, { retryAt }] of this.#aside) if (retryAt <= this.#now()) return key
    return undefined
  }

  /** Lets a burst arrive: waits until no signup came for a moment, or long enough. */
  async #linger(): Promise<void> {
    const { quietMs, maxMs } = this.#options.linger
    const until = this.#now() + maxMs
    let seen
    do {
      seen = this.#appends
      await this.#rest(quietMs)
    } while (this.#appends !== seen && this.#now() < until && !this.#isStopping)
  }

  /** IDLE until something is to do. */
  async #idle(): Promise<void> {
    const times = [...this.#aside.values()].map(({ retryAt }) => retryAt)
    if (typeof this.#fence === 'object') times.push(this.#fence.testAt)
    const next = Math.min(...times) - this.#now()
    const wake = new AbortController()
    this.#wake = wake
    await this.#options.clock.sleep(
      Math.min(idleMaxMs, next),
      AbortSignal.any([wake.signal, this.#stopping.signal]),
    )
    this.#wake = undefined
  }

  /** Waits; `stop` ends it early. */
  async #rest(ms: Millis): Promise<void> {
    if (ms > 0) await this.#options.clock.sleep(ms, this.#stopping.signal)
  }

  #now(): Millis {
    return this.#options.clock.elapsed()
  }
}

type Failure = Refused | Retryable | Unknown

function isFailure(result: { readonly kind: string }): result is Failure {
  return result.kind === 'refused' || result.kind === 'retryable' || result.kind === 'unknown'
}

function isAboutOneTab(failure: Failure): boolean {
  return failure.kind === 'refused' && failure.tab !== undefined
}

const fenceBroken: Refused = {
  kind: 'refused',
  message: 'The spreadsheet applied a batch id twice, so lost answers would mean double rows',
  hint:
    'Make a new spreadsheet by hand (not a copy), share it as Editor, and set SHEETS_SHEET_ID to it. ' +
    'Signups are kept meanwhile; a restart tests the spreadsheet again.',
}

function fenceOf({ location }: Spreadsheet): string {
  return `fence of ${location}`
}

function never(): boolean {
  return false
}

/** A defect of ours must not end delivery: it is told and tried again like an outage. */
function wordsOf(error: unknown): string {
  return error instanceof JournalUnavailable ? error.message : 'Delivery failed unexpectedly'
}
