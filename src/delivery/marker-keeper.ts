import type { DeliveryLog, EndedMarker, RunningTime } from '../journal/contracts/delivery-log.ts'
import { type Clock, minute } from '../platform/clock.ts'
import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis } from '../signup/signup.ts'
import type { Refused, Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type Attempts, type AttemptsOptions, tryMaxMs } from './attempts.ts'

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

/** How long after a spreadsheet's first batch the fence is tested. */
const testAfterMs = minute

/** No test begins later than this, because another writer may prune the marker at the end of its life. */
const testWithinMs = keepMs.unclear - 2 * tryMaxMs

/** A person may restore a version in the middle of a test, but hardly in the next one too. */
const testRounds = 2

/** Prunes the markers that batches leave behind, and tests once that markers keep double rows out. */
export class MarkerKeeper {
  readonly #options: MarkerKeeperOptions
  readonly #time: ProcessTime
  /** The keepMs, by marker, of batches that this process has ended, until they are noted. */
  readonly #keepMs = new Map<number, Millis>()
  /** The running time at the last note of this process. */
  #now: Millis = 0
  #keepingTime: Promise<void> | undefined
  #pruneNotBefore: Millis = 0
  /** The settled batch to test the fence with, and when; `tested` once the fence is known to work. */
  #test: { readonly batch: FrozenBatch; readonly settledAt: Millis } | 'tested' | undefined

  constructor(options: MarkerKeeperOptions) {
    this.#options = options
    this.#time = new ProcessTime(options.journal, options.clock)
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
    return typeof this.#test === 'object' ? this.#test.settledAt + testAfterMs : Infinity
  }

  /** Does what is due: prunes markers and tests the fence. Seldom makes a call. */
  async keepUp(): Promise<void> {
    await this.#testOnce()
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
    { number, marker, fingerprint }: FrozenBatch,
    { isClear, settledAt }: { readonly isClear: boolean; readonly settledAt: Millis },
  ): Promise<void> {
    const { journal, spreadsheet } = this.#options
    if (!this.#needsMarkers) return
    this.#keepMs.set(marker, isClear && this.#test ? keepMs.clear : keepMs.unclear)
    await this.#age()
    if (this.#test) return
    const isTested = (await journal.fact(factOf(spreadsheet))) !== undefined
    const batch = { number, marker, fingerprint, tabs: [] }
    this.#test = isTested ? 'tested' : { batch, settledAt }
  }

  /** Notes that a batch was given up. A try of it may still be on its way. */
  async released({ marker }: FrozenBatch): Promise<void> {
    if (!this.#needsMarkers) return
    this.#keepMs.set(marker, keepMs.unclear)
    await this.#age()
  }

  /**
   * Tests once for each spreadsheet that a marker keeps its batch out. Giving up a settled batch must
   * answer `applied`. If it succeeds instead, either the fence does not hold, so that a lost answer would
   * cause double rows, or the marker is gone, because a person restored a version from before the batch.
   * Then the marker that giving up has made must keep out a try to write the batch.
   */
  async #testOnce(): Promise<void> {
    const { journal, spreadsheet, clock, attempts } = this.#options
    if (typeof this.#test !== 'object' || clock.elapsed() < this.testAt) return
    const { batch, settledAt } = this.#test
    let isBroken = false
    const isInTime = async () => clock.elapsed() <= settledAt + testWithinMs
    const result = await attempts.persist(async (signal) => {
      if (isBroken) return broken
      for (let round = 1; round <= testRounds; round++) {
        if (!(await isInTime())) return tooLate
        const end = await spreadsheet.abandon(batch, signal, isInTime)
        if (end.kind === 'applied') return holds
        if (end.kind !== 'abandoned') return end
        const again = await spreadsheet.write(batch, signal, isInTime)
        if (again.kind === 'abandoned') return holds
        if (again.kind !== 'applied') return again
      }
      // If this process was suspended in between, another writer may have pruned the marker.
      isBroken = await isInTime()
      return isBroken ? broken : tooLate
    })
    if (result?.kind === 'too late') this.#test = undefined
    if (result?.kind !== 'holds') return
    await journal.noteFact(factOf(spreadsheet), 'holds')
    this.#test = 'tested'
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

const holds = { kind: 'holds' } as const

/** It is too late for the test with this batch. The next batch is used instead. */
const tooLate = { kind: 'too late' } as const

const broken: Refused = {
  kind: 'refused',
  reason: 'fence',
  message: 'The spreadsheet applied one batch id twice, so lost answers could lead to double rows',
  hint:
    'Make a new, empty spreadsheet (not a copy), share it with the service account as Editor, and ' +
    'name it in the settings. Rollcall keeps all signups meanwhile, and tests the spreadsheet again after ' +
    'a restart.',
}

function factOf({ location }: Spreadsheet): string {
  return `fence of ${location}`
}

/**
 * Adds this process's time to the journal's running time, by which markers age. Neither downtime nor
 * jumps of the wall clock count.
 */
export class ProcessTime {
  readonly #journal: Pick<DeliveryLog, 'noteRunningTime'>
  readonly #clock: Clock
  readonly #name = crypto.randomUUID()
  /** The start, on the elapsed clock, of the time that is not noted yet. */
  #measuredFrom: Millis
  #seen: RunningTime | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(journal: Pick<DeliveryLog, 'noteRunningTime'>, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
    this.#measuredFrom = clock.elapsed()
  }

  /**
   * Notes the time since the last note, and how long markers that begin to age now are kept. Returns the
   * running time. Rejects with `JournalUnavailable`; the next note then includes this time.
   */
  note(keepMs: ReadonlyMap<number, Millis> = new Map()): Promise<Millis> {
    // One note at a time: two notes at once would count the same time twice.
    const noted = this.#last.then(() => this.#note(keepMs))
    this.#last = noted.catch(() => undefined)
    return noted
  }

  async #note(keepMs: ReadonlyMap<number, Millis>): Promise<Millis> {
    const ms = Math.floor(this.#clock.elapsed() - this.#measuredFrom)
    this.#seen = await this.#journal.noteRunningTime({
      by: this.#name,
      ms,
      seen: this.#seen,
      keepMs,
    })
    // Start again now, as another process may have noted its own time since `ms` was measured.
    this.#measuredFrom = this.#clock.elapsed()
    return this.#seen.ms
  }
}
