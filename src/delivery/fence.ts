import type { Journal } from '../journal/journal.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis } from '../signup/signup.ts'
import type { Abandoned, Refused, Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type Attempts, tryMaxMs } from './attempts.ts'

export interface FenceOptions {
  readonly journal: Journal
  readonly spreadsheet: Spreadsheet
  readonly clock: Clock
  readonly events: Events
  readonly attempts: Attempts
  readonly giveUp: AbortSignal
  /** Infinity where the spreadsheet needs no markers: then there is no fence to test. */
  readonly markersMax: number
}

const minute = 60 * 1000

/**
 * How long a marker outlives its batch. A call that was given up may be applied for 180 s more, by
 * Google's documentation; until then the marker must be there to refuse it.
 */
const markerLifeMs = 15 * minute

/** A call for pruning is worth it from this many markers on. */
const pruneFrom = 10

/** The fence is tested when the first batch of a spreadsheet has been in it for this long. */
const testAfterMs = minute

/** Another writer on the journal may prune a marker at the end of its life: no test begins after this. */
const testWithinMs = markerLifeMs - 2 * tryMaxMs

/** Looks after the markers that batches leave behind, and that they do what delivery rests on. */
export class Fence {
  readonly #options: FenceOptions
  /** Since when, on the elapsed clock, this process knows that a marker's batch has ended. */
  readonly #endedSince = new Map<number, Millis>()
  #pruneNotBefore: Millis = 0
  /** A settled batch to test the fence with, and when; `tested` once it is known to hold. */
  #test: Test | 'tested' | undefined

  constructor(options: FenceOptions) {
    this.#options = options
  }

  /** When `keepUp` has something to do that nothing else calls for. */
  get testAt(): Millis {
    return typeof this.#test === 'object' ? this.#test.settledAt + testAfterMs : Infinity
  }

  /** Does what is due. Costs calls now and then only. */
  async keepUp(): Promise<void> {
    await this.#testOnce()
    await this.#prune()
  }

  /** A batch was settled: the first one of a spreadsheet is kept to test the fence with. */
  async settled({ number, marker, fingerprint }: FrozenBatch): Promise<void> {
    const { journal, spreadsheet, clock, markersMax } = this.#options
    if (this.#test !== undefined || markersMax === Infinity) return
    const isTested = (await journal.fact(factOf(spreadsheet))) !== undefined
    const batch = { number, marker, fingerprint, tabs: [] }
    this.#test = isTested ? 'tested' : { batch, settledAt: clock.elapsed() }
  }

  /**
   * Once for each spreadsheet: a marker that exists must keep its batch out. Giving up a batch that is
   * settled has to fail with "it was applied"; where it succeeds, lost answers would mean double rows.
   */
  async #testOnce(): Promise<void> {
    const { journal, spreadsheet, clock, attempts } = this.#options
    if (typeof this.#test !== 'object' || clock.elapsed() < this.testAt) return
    const { batch, settledAt } = this.#test
    let isBroken = false
    const result = await attempts.persist(async (signal): Promise<Abandoned | typeof tooLate> => {
      if (isBroken) return broken
      if (clock.elapsed() > settledAt + testWithinMs) return tooLate
      const end = await spreadsheet.abandon(batch, signal)
      isBroken = end.kind === 'abandoned'
      return isBroken ? broken : end
    })
    if (result?.kind === 'too late') this.#test = undefined
    if (result?.kind !== 'applied') return
    await journal.noteFact(factOf(spreadsheet), 'holds')
    this.#test = 'tested'
  }

  /** Takes markers out of the spreadsheet when enough of them are old enough. */
  async #prune(): Promise<void> {
    const { journal, spreadsheet, clock, events, giveUp } = this.#options
    const now = clock.elapsed()
    const ended = await journal.endedMarkers()
    // By the clock that never jumps, from when they were first seen here.
    for (const marker of ended) {
      if (!this.#endedSince.has(marker)) this.#endedSince.set(marker, now)
    }
    const markers = ended.filter(
      (marker) => (this.#endedSince.get(marker) ?? Infinity) <= now - markerLifeMs,
    )
    if (markers.length < pruneFrom || now < this.#pruneNotBefore) return
    this.#pruneNotBefore = now + minute
    const result = await spreadsheet.prune(markers, giveUp)
    if (result.kind !== 'pruned') {
      events.deliveryOddity(`Old markers stay for now: ${result.message}`)
      return
    }
    await journal.forgetMarkers(markers)
    for (const marker of markers) this.#endedSince.delete(marker)
  }
}

interface Test {
  readonly batch: FrozenBatch
  readonly settledAt: Millis
}

/** The next batch will do for the test. */
const tooLate = { kind: 'too late' } as const

const broken: Refused = {
  kind: 'refused',
  message: 'The spreadsheet applied a batch id twice, so lost answers would mean double rows',
  hint:
    'Make a new spreadsheet by hand (not a copy), share it as Editor, and set SHEETS_SHEET_ID to it. ' +
    'Signups are kept meanwhile; a restart tests the spreadsheet again.',
}

function factOf({ location }: Spreadsheet): string {
  return `fence of ${location}`
}
