import type { DeliveryLog, EndedMarker } from '../journal/contracts/delivery-log.ts'
import { minute } from '../platform/clock.ts'
import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis } from '../signup/signup.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type Attempts, type AttemptsOptions, tryMaxMs } from './attempts.ts'
import { Fence } from './fence.ts'
import { ProcessTime } from './process-time.ts'

export interface MarkerKeeperOptions extends AttemptsOptions {
  readonly journal: DeliveryLog
  readonly spreadsheet: Spreadsheet
  readonly attempts: Attempts
}

/**
 * How long a marker is kept after its batch has ended, in running time. Google works on a call for at
 * most 180 s. docs/decisions/exactly-once.md shows why each time is enough.
 */
const keepMs = {
  /** This process froze the batch, nobody else sent it, and every try was answered clearly. */
  clear: 4 * minute,
  /** The answer to some try was unclear, or the batch was given up. */
  unclear: 15 * minute,
  /** Another process froze it, and may wake up and send it with an access token that lives 60 minutes. */
  found: 65 * minute,
} as const

/** How often running time is noted while a marker ages. */
const noteEveryMs = 50 * 1000

/** The least number of markers that is worth a call for pruning. */
const pruneFrom = 10

/** Another writer may prune the marker of a test at the end of its life. */
const testWithinMs = keepMs.unclear - 2 * tryMaxMs

/** Prunes the markers that batches leave behind, and has the fence tested that they are. */
export class MarkerKeeper {
  readonly #options: MarkerKeeperOptions
  readonly #time: ProcessTime
  readonly #fence: Fence
  /** The keepMs, by marker, of batches that this process has ended, until they are noted. */
  readonly #keepMs = new Map<number, Millis>()
  /** The running time at the last note of this process. */
  #now: Millis = 0
  #keepingTime: Promise<void> | undefined
  #pruneNotBefore: Millis = 0

  constructor(options: MarkerKeeperOptions) {
    this.#options = options
    this.#time = new ProcessTime(options.journal, options.clock)
    this.#fence = new Fence({ ...options, withinMs: testWithinMs })
  }

  /** Lets markers of earlier processes begin to age. Call it first. */
  async start(): Promise<void> {
    if (this.#needsMarkers) await this.#age()
  }

  /** Resolves when all background work has ended. Call it after `stopping`. */
  async end(): Promise<void> {
    await this.#keepingTime
  }

  /** Whether the spreadsheet uses markers. Without markers there is no fence to test. */
  get #needsMarkers(): boolean {
    return this.#options.spreadsheet.profile.markers.max !== Infinity
  }

  /** The time at which the writer must call `keepUp` for the test of the fence. */
  get testAt(): Millis {
    return this.#fence.dueAt
  }

  /** Does what is due: prunes markers and tests the fence. Seldom makes a call. */
  async keepUp(): Promise<void> {
    await this.#fence.test()
    await this.#prune(pruneFrom)
  }

  /** Whether there is room for one more marker. Prunes old markers if needed. */
  async hasRoom(): Promise<boolean> {
    const { journal, spreadsheet } = this.#options
    const { max } = spreadsheet.profile.markers
    if ((await journal.markerCount()) < max) return true
    await this.#age()
    await this.#prune(1)
    return (await journal.markerCount()) < max
  }

  /**
   * Notes that a batch was settled, not before `settledAt` on the elapsed clock. `isClear` tells whether
   * every try got a clear answer. The first batch of a spreadsheet is kept for the test of the fence.
   */
  async settled(
    batch: FrozenBatch,
    { isClear, settledAt }: { readonly isClear: boolean; readonly settledAt: Millis },
  ): Promise<void> {
    if (!this.#needsMarkers) return
    this.#keepMs.set(batch.marker, isClear && this.#fence.isBegun ? keepMs.clear : keepMs.unclear)
    await this.#age()
    await this.#fence.begin(batch, settledAt)
  }

  /** Notes that a batch was given up. A try of it may still be on its way. */
  async released({ marker }: FrozenBatch): Promise<void> {
    if (!this.#needsMarkers) return
    this.#keepMs.set(marker, keepMs.unclear)
    await this.#age()
  }

  /** Notes the running time and how long markers of ended batches stand. Repeats while any marker ages. */
  async #age(): Promise<void> {
    if (await this.#noteTime()) this.#keepingTime ??= this.#keepTime()
  }

  async #keepTime(): Promise<void> {
    const { clock, stopping } = this.#options
    do await clock.sleep(noteEveryMs, stopping)
    while (
      // Ignore a failing journal here: intake and the writer report it.
      (await this.#noteTime().catch(() => true)) &&
      !stopping.aborted
    )
    this.#keepingTime = undefined
  }

  /** Notes the running time. Returns whether any marker still ages. */
  async #noteTime(): Promise<boolean> {
    const ended = await this.#options.journal.endedMarkers()
    const isAgeing = () => ended.some(({ prunableAt = Infinity }) => prunableAt > this.#now)
    if (!isAgeing()) return false
    // Markers that are unknown here are from batches that an earlier process ended.
    const lifeOf = ({ id, isFound }: EndedMarker) =>
      isFound ? keepMs.found : (this.#keepMs.get(id) ?? keepMs.found)
    const ageless = ended.filter(({ prunableAt }) => prunableAt === undefined)
    this.#now = await this.#time.note(new Map(ageless.map((marker) => [marker.id, lifeOf(marker)])))
    for (const { id } of ageless) this.#keepMs.delete(id)
    return isAgeing()
  }

  /** Removes markers from the spreadsheet when at least this many have reached the end of their life. */
  async #prune(least: number): Promise<void> {
    const { journal, spreadsheet, clock, events, giveUp } = this.#options
    const now = clock.elapsed()
    if (now < this.#pruneNotBefore) return
    const ended = await journal.endedMarkers()
    const markers = ended
      .filter(({ prunableAt = Infinity }) => !this.#needsMarkers || prunableAt <= this.#now)
      .map(({ id }) => id)
    if (markers.length < least) return
    this.#pruneNotBefore = now + minute
    const result = await spreadsheet.prune(markers, giveUp)
    if (result.kind !== 'pruned') {
      events.deliveryOddity(`Old markers stay for now: ${result.message}`)
      return
    }
    await journal.forgetMarkers(markers)
    await journal.adoptMarkers(result.others)
  }
}
