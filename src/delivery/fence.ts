import type { DeliveryLog, EndedMarker } from '../journal/delivery-log.ts'
import type { Events } from '../ops/events.ts'
import type { Clock } from '../platform/clock.ts'
import type { FrozenBatch } from '../signup/batch.ts'
import type { Millis } from '../signup/signup.ts'
import type { Abandoned, Refused, Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type Attempts, tryMaxMs } from './attempts.ts'
import { ProcessTime } from './running-time.ts'

export interface FenceOptions {
  readonly journal: DeliveryLog
  readonly spreadsheet: Spreadsheet
  readonly clock: Clock
  readonly events: Events
  readonly attempts: Attempts
  readonly stopping: AbortSignal
  readonly giveUp: AbortSignal
}

const minute = 60 * 1000

/**
 * How long a marker outlives its batch, in running time. docs/decisions/exactly-once.md shows why each
 * is enough; Google works on a call for at most 180 s.
 */
const lives = {
  /** This process froze the batch, nobody else sent it, and every try was answered clearly. */
  clear: 4 * minute,
  /** A try of it was not, or it was given up. */
  unclear: 15 * minute,
  /** Another process froze it, and may wake up and send it with an access token that lives 60 minutes. */
  found: 65 * minute,
} as const

/** Running time is noted this often while a marker ages. */
const noteEveryMs = 50 * 1000

/** A call for pruning is worth it from this many markers on. */
const pruneFrom = 10

/** The fence is tested when the first batch of a spreadsheet has been in it for this long. */
const testAfterMs = minute

/** Another writer on the journal may prune the marker at the end of its life: no test begins after this. */
const testWithinMs = lives.unclear - 2 * tryMaxMs

/** Looks after the markers that batches leave behind, and that they do what delivery rests on. */
export class Fence {
  readonly #options: FenceOptions
  readonly #time: ProcessTime
  /** Of batches that this process has ended, until their lives are noted. By marker. */
  readonly #lives = new Map<number, Millis>()
  /** The running time when it was last noted here. */
  #now: Millis = 0
  #keepingTime: Promise<void> | undefined
  #pruneNotBefore: Millis = 0
  /** A settled batch to test the fence with, and when; `tested` once it is known to hold. */
  #test: Test | 'tested' | undefined

  constructor(options: FenceOptions) {
    this.#options = options
    this.#time = new ProcessTime(options.journal, options.clock)
  }

  /** Markers that an earlier process left begin to age here. Before anything else. */
  async start(): Promise<void> {
    if (this.#needsMarkers) await this.#age()
  }

  /** Resolves when nothing goes on by itself any more; after `stopping`. */
  async end(): Promise<void> {
    await this.#keepingTime
  }

  /** Without them there is no fence to test. */
  get #needsMarkers(): boolean {
    return this.#options.spreadsheet.profile.markers.max !== Infinity
  }

  /** When `keepUp` has something to do that nothing else calls for. */
  get testAt(): Millis {
    return typeof this.#test === 'object' ? this.#test.settledAt + testAfterMs : Infinity
  }

  /** Does what is due. Costs calls now and then only. */
  async keepUp(): Promise<void> {
    await this.#testOnce()
    await this.#prune(pruneFrom)
  }

  /** Whether one more marker may stand. Makes room when it can. */
  async hasRoom(): Promise<boolean> {
    const { journal, spreadsheet } = this.#options
    const { max } = spreadsheet.profile.markers
    if ((await journal.markerCount()) < max) return true
    await this.#age()
    await this.#prune(1)
    return (await journal.markerCount()) < max
  }

  /**
   * A batch was settled, not before `settledAt` on the elapsed clock; `isClear` when every try was answered
   * clearly. The first batch of a spreadsheet is kept to test the fence with.
   */
  async settled(
    { number, marker, fingerprint }: FrozenBatch,
    { isClear, settledAt }: { readonly isClear: boolean; readonly settledAt: Millis },
  ): Promise<void> {
    const { journal, spreadsheet } = this.#options
    if (!this.#needsMarkers) return
    this.#lives.set(marker, isClear && this.#test ? lives.clear : lives.unclear)
    await this.#age()
    if (this.#test) return
    const isTested = (await journal.fact(factOf(spreadsheet))) !== undefined
    const batch = { number, marker, fingerprint, tabs: [] }
    this.#test = isTested ? 'tested' : { batch, settledAt }
  }

  /** A batch was given up: a try of it may still be on its way. */
  async released({ marker }: FrozenBatch): Promise<void> {
    if (!this.#needsMarkers) return
    this.#lives.set(marker, lives.unclear)
    await this.#age()
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
    const isInTime = async () => clock.elapsed() <= settledAt + testWithinMs
    const result = await attempts.persist(async (signal): Promise<Abandoned | typeof tooLate> => {
      if (isBroken) return broken
      if (!(await isInTime())) return tooLate
      const end = await spreadsheet.abandon(batch, signal, isInTime)
      if (end.kind !== 'abandoned') return end
      // A process that was stopped on the way proves nothing: another writer may have pruned the marker.
      isBroken = await isInTime()
      return isBroken ? broken : tooLate
    })
    if (result?.kind === 'too late') this.#test = undefined
    if (result?.kind !== 'applied') return
    await journal.noteFact(factOf(spreadsheet), 'holds')
    this.#test = 'tested'
  }

  /** Notes the running time and the lives of markers whose batches have ended; again while any ages. */
  async #age(): Promise<void> {
    if (await this.#noteTime()) this.#keepingTime ??= this.#keepTime()
  }

  async #keepTime(): Promise<void> {
    const { clock, stopping } = this.#options
    do await clock.sleep(noteEveryMs, stopping)
    while (
      // A journal that fails is told by those who cannot work without it.
      (await this.#noteTime().catch(() => true)) &&
      !stopping.aborted
    )
    this.#keepingTime = undefined
  }

  /** Whether any marker ages still. */
  async #noteTime(): Promise<boolean> {
    const ended = await this.#options.journal.endedMarkers()
    const isAgeing = () => ended.some(({ ripeAt = Infinity }) => ripeAt > this.#now)
    if (!isAgeing()) return false
    // Those that are not known here were ended by a process that is gone.
    const lifeOf = ({ id, isFound }: EndedMarker) =>
      isFound ? lives.found : (this.#lives.get(id) ?? lives.found)
    const ageless = ended.filter(({ ripeAt }) => ripeAt === undefined)
    this.#now = await this.#time.note(new Map(ageless.map((marker) => [marker.id, lifeOf(marker)])))
    for (const { id } of ageless) this.#lives.delete(id)
    return isAgeing()
  }

  /** Takes markers out of the spreadsheet when so many have come to the end of their life. */
  async #prune(least: number): Promise<void> {
    const { journal, spreadsheet, clock, events, giveUp } = this.#options
    const now = clock.elapsed()
    if (now < this.#pruneNotBefore) return
    const ended = await journal.endedMarkers()
    const markers = ended
      .filter(({ ripeAt = Infinity }) => !this.#needsMarkers || ripeAt <= this.#now)
      .map(({ id }) => id)
    if (markers.length < least) return
    this.#pruneNotBefore = now + minute
    const result = await spreadsheet.prune(markers, giveUp)
    if (result.kind !== 'pruned') {
      events.deliveryOddity(`Old markers stay for now: ${result.message}`)
      return
    }
    await journal.forgetMarkers(markers)
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
  reason: 'fence',
  message: 'The spreadsheet applied a batch id twice, so lost answers would mean double rows',
  hint:
    'Make a new spreadsheet by hand (not a copy), share it as Editor, and set SHEETS_SHEET_ID to it. ' +
    'Signups are kept meanwhile; a restart tests the spreadsheet again.',
}

function factOf({ location }: Spreadsheet): string {
  return `fence of ${location}`
}
