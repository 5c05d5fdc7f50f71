import type { Erasure, RowToRemove } from '../journal/contracts/erasure.ts'
import { JournalUnavailable, Overtaken } from '../journal/contracts/errors.ts'
import { second, untilLook } from '../platform/clock.ts'
import type { Listeners } from '../platform/listeners.ts'
import type { Millis } from '../signup/signup.ts'
import type { Spreadsheet } from '../spreadsheet/spreadsheet.ts'
import { type AttemptsOptions, type Blocked, blockedAgain } from './attempts.ts'

export interface RemoverOptions extends Pick<AttemptsOptions, 'clock' | 'events' | 'stopping'> {
  readonly erasure: Pick<Erasure, 'removals' | 'spared' | 'removed' | 'scrub'>
  readonly spreadsheet: Pick<Spreadsheet, 'remove'>
  /** Tells that rows may wait now. */
  readonly erased: Listeners<undefined>
  /** How often to look for rows of which nothing tells. */
  readonly lookEveryMs: Millis
}

/** How soon a row is looked for again after it was removed, or was moved by a person just then. */
const againMs = second

/** How long rows of people who have left are gathered after a try. They go within a minute. */
const gatherMs = 30 * second

/** At most how many rows one search looks for. */
const searchedMax = 1_000

/**
 * Removes the rows of forgotten people from the spreadsheet, beside its batches: one search is for all that
 * wait. A removal is done when a search finds no such row. Those of people who have left gather; all others
 * go at once, and take them along. A stop ends a try at any point, and the next one does it again.
 */
export class Remover {
  readonly #options: RemoverOptions
  #notBefore: Millis = 0
  /** When rows of people who have left are tried next. */
  #leavingFrom: Millis = 0
  #failing: Blocked | undefined
  /** Whether copies of erased cells may be in the journal's log: at a start, and after a removal. */
  #mustScrub = true

  constructor(options: RemoverOptions) {
    this.#options = options
  }

  /** Keeps up until the writer stops. */
  async run(): Promise<void> {
    const { clock, stopping, events, erased, lookEveryMs } = this.#options
    let wake = new AbortController()
    const unsubscribe = erased.add(() => wake.abort())
    while (!stopping.aborted) {
      wake = new AbortController()
      try {
        await this.keepUp()
      } catch (error) {
        const isExpected = error instanceof JournalUnavailable || error instanceof Overtaken
        if (!isExpected) events.deliveryFailed(error)
        this.#wait()
      }
      const wait = this.#notBefore - clock.elapsed()
      // A failed try is made again in its own time.
      const woken = wait > 0 ? stopping : AbortSignal.any([wake.signal, stopping])
      await clock.sleep(wait > 0 ? wait : untilLook(clock, lookEveryMs), woken)
    }
    unsubscribe()
  }

  /** Makes one try for the rows that wait, if it is due. Mostly makes no call. */
  async keepUp(): Promise<void> {
    const { erasure, clock } = this.#options
    if (clock.elapsed() < this.#notBefore) return
    const rows = await this.#waiting()
    if (rows.some(({ isLeaving }) => !isLeaving) || clock.elapsed() >= this.#leavingFrom) {
      if (rows.length > 0) return this.#try(rows)
    }
    if (!this.#mustScrub) return
    this.#mustScrub = !(await erasure.scrub())
    // Another process prevents it for now.
    if (this.#mustScrub) this.#notBefore = clock.elapsed() + againMs
  }

  /** The rows that a search looks for: those of people who have left come last. */
  async #waiting(): Promise<readonly RowToRemove[]> {
    const { removals } = this.#options.erasure
    const all: RowToRemove[] = []
    for (let page = await removals(0); page.length > 0;) {
      all.push(...page)
      page = await removals(page.at(-1)?.position ?? Infinity)
    }
    const byKind = Map.groupBy(all, ({ isLeaving }) => isLeaving)
    const inOrder = [false, true].flatMap((leaving) => inTurns(byKind.get(leaving) ?? []))
    return inOrder.slice(0, searchedMax)
  }

  async #try(waiting: readonly RowToRemove[]): Promise<void> {
    const { erasure, spreadsheet, clock, stopping, events } = this.#options
    this.#leavingFrom = clock.elapsed() + gatherMs
    const spared = await erasure.spared(waiting)
    const rows = waiting.flatMap((row, index) => {
      const beside = spared[index]
      return beside ? [{ ...row, spared: beside }] : []
    })
    if (rows.length === 0) return
    const result = await spreadsheet.remove(rows, stopping)
    this.#leavingFrom = clock.elapsed() + gatherMs
    if (result.kind === 'removed') await this.#note(rows, result.standing)
    const failure = result.kind === 'removed' ? result.failure : result
    if (failure) {
      if (stopping.aborted) return
      if (!this.#failing) events.removalDelayed(failure.message)
      this.#wait()
      return
    }
    this.#failing = undefined
    const isFound = result.kind === 'removed' && result.standing.some((count) => count > 0)
    if (isFound) this.#notBefore = clock.elapsed() + againMs
    // Others wait behind those of a full search.
    if (waiting.length === searchedMax) this.#leavingFrom = this.#notBefore
  }

  async #note(rows: readonly RowToRemove[], standing: readonly number[]): Promise<void> {
    const gone = rows.filter((_, index) => standing[index] === 0)
    if (gone.length === 0) return
    this.#mustScrub = true
    await this.#options.erasure.removed(gone.map(({ position }) => position))
    this.#options.events.rowsRemoved(gone.length)
  }

  #wait(): void {
    const { clock } = this.#options
    const failing = blockedAgain(this.#failing, clock.elapsed())
    this.#failing = failing
    this.#notBefore = clock.elapsed() + failing.waitMs
  }
}

/** The first row of each person, then the second of each: nobody waits for all rows of somebody else. */
function inTurns(rows: readonly RowToRemove[]): readonly RowToRemove[] {
  const turns: RowToRemove[][] = []
  const taken = new Map<string, number>()
  for (const row of rows) {
    const person = row.email.toLowerCase()
    const turn = taken.get(person) ?? 0
    taken.set(person, turn + 1)
    const same = turns[turn] ?? []
    turns[turn] = same
    same.push(row)
  }
  return turns.flat()
}
