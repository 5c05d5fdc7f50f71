import { type Millis, tabKey } from '../signup/signup.ts'
import type {
  Compared,
  CompareOptions,
  Comparison,
  DoubleRow,
  FoundKind,
  FoundSignup,
  RowsOfTab,
} from './contracts/comparison.ts'
import { emailNumber, type Key, type Lost, NotedRows, timeNumber } from './noted-rows.ts'
import { RowDigests } from './row-digests.ts'

/** Signups read or looked up at once, which takes a few milliseconds. */
const pageRows = 500

/** What an engine does for a comparison: it reads and changes the signups of one site. */
export interface ComparedSignups {
  /** The present spreadsheet. */
  readonly spreadsheet: string
  /** The last batch when the comparison began. */
  readonly lastBatch: number
  /** The batch that was frozen then; 0 when there was none. */
  readonly frozen: number
  /** The next signups after this position, at most `max`. */
  page(after: number, max: number): Promise<readonly ComparedSignup[]>
  /** The signups at these positions, in order. Leaves out positions without one. */
  at(positions: readonly number[]): Promise<readonly FoundSignup[]>
  /** Like `Comparison.deliverAgain`. Leaves out those that a batch after `lastBatch` has delivered once more. */
  deliverAgain(positions: readonly number[], at: Millis): Promise<number>
  /** Like `Comparison.noteArrived`. */
  noteArrived(positions: readonly number[]): Promise<void>
}

export interface ComparedSignup {
  readonly position: number
  readonly receivedAt: Millis
  /** Empty when it was erased. */
  readonly email: string
  readonly tab: string
  /** Whether it is a duplicate that gets no row. */
  readonly isIgnored: boolean
  /** Whether it waits to be delivered once more. */
  readonly isQueued: boolean
  /** The settled batch that delivered it first; undefined when none has. */
  readonly batch: number | undefined
  /** The spreadsheet of that batch; undefined when it is not known, and counts as the present one. */
  readonly batchSpreadsheet: string | undefined
  /** The last batch that delivered it once more to the present spreadsheet; undefined when none has. */
  readonly again: number | undefined
}

/** Signups are kept by their kind until a row is found for them. `waiting` ones are not told. */
type LostKind = FoundKind | 'waiting'

interface Counts {
  present: number
  waiting: number
  unknown: number
  /** Rows that a signup was found for. */
  used: number
}

/** The comparison of every engine. */
export class RowComparison implements Comparison {
  readonly #signups: ComparedSignups
  readonly #cellKey: CompareOptions['cellKey']
  readonly #rows = new NotedRows()
  readonly #digests = new RowDigests()
  /** The numbers of tabs, by key, and their names by number. */
  readonly #tabs = new Map<string, number>()
  readonly #names: string[] = []

  constructor(signups: ComparedSignups, { cellKey }: CompareOptions) {
    this.#signups = signups
    this.#cellKey = cellKey
  }

  [Symbol.dispose](): void {
    this.#rows[Symbol.dispose]()
  }

  begin(): void {
    this.#rows.clear()
    this.#digests.begin()
  }

  async note(part: RowsOfTab): Promise<void> {
    const tab = this.#tab(part.tab)
    for (let at = 0; at === 0 || at < part.rows.length; at += pageRows) {
      if (at > 0) await nextTurn()
      const rows = part.rows.slice(at, at + pageRows)
      this.#digests.note({ ...part, rows })
      for (const { email, at: time } of rows) {
        this.#rows.note({ time: timeNumber(time), email: this.#email(email), tab })
      }
    }
  }

  get isSteady(): boolean {
    return this.#digests.isSteady
  }

  async compare(onPage: (signups: number) => void): Promise<Compared> {
    const counts = { present: 0, waiting: 0, unknown: 0, used: 0 }
    let compared = 0
    for (let after = 0; ;) {
      const page = await this.#signups.page(after, pageRows)
      for (const signup of page) this.#place(signup, counts)
      compared += page.length
      onPage(compared)
      if (page.length < pageRows) break
      after = page.at(-1)?.position ?? after
      await nextTurn()
    }
    // Signups that must have a row come first. What is left is for those that may have one.
    for (const kind of ['elsewhere', 'waiting'] as const) {
      await this.#each(kind, (lost) => {
        if (!this.#rows.use(lost)) return undefined
        counts.used += 1
        if (kind === 'elsewhere') counts.present += 1
        return kind === 'elsewhere' ? 'found' : 'arrived'
      })
    }
    const { rows, double, copies } = this.#rows.sums()
    await this.#findEdited()
    const { used, ...told } = counts
    return {
      ...told,
      missing: this.#rows.lostCount('missing'),
      edited: this.#rows.lostCount('edited'),
      elsewhere: this.#rows.lostCount('elsewhere'),
      ...{ rows, double, copies },
      others: rows - used - double - copies,
    }
  }

  found(kind: FoundKind, after: number, max: number): Promise<readonly FoundSignup[]> {
    return this.#signups.at(this.#rows.lost(kind, after, max).map(({ position }) => position))
  }

  doubles(max: number): readonly DoubleRow[] {
    return this.#rows
      .doubles(max)
      .map(({ time, tab, extra }) => ({ at: time, tab: this.#names[tab] ?? '', extra }))
  }

  deliverAgain(positions: readonly number[], at: Millis): Promise<number> {
    return this.#signups.deliverAgain(positions, at)
  }

  noteArrived(positions: readonly number[]): Promise<void> {
    return this.#signups.noteArrived(positions)
  }

  /** Looks for the row of a signup, and keeps the signup when there is none. */
  #place(signup: ComparedSignup, counts: Counts): void {
    const { position, receivedAt, email, tab } = signup
    if (signup.isIgnored) return
    if (email === '') return void (counts.unknown += 1)
    const lost: Lost = {
      position,
      time: receivedAt,
      email: this.#email(email),
      tab: this.#tab(tab),
    }
    const kind = this.#standing(signup)
    if (kind === 'waiting') counts.waiting += 1
    if (kind !== 'missing' || !this.#rows.use(lost)) return this.#rows.addLost(kind, lost)
    counts.present += 1
    counts.used += 1
  }

  /** What a signup without a row is: one that should have it, one of another spreadsheet, or neither. */
  #standing(signup: ComparedSignup): 'missing' | 'elsewhere' | 'waiting' {
    const { batch, batchSpreadsheet, again, isQueued } = signup
    const { spreadsheet, lastBatch, frozen } = this.#signups
    if (isQueued || batch === undefined) return 'waiting'
    const isHere = (batchSpreadsheet ?? spreadsheet) === spreadsheet
    const last = Math.max(isHere ? batch : 0, again ?? 0)
    // A later batch may have written its row after that row was read.
    if (last > lastBatch || (last > 0 && last === frozen)) return 'waiting'
    return last > 0 ? 'missing' : 'elsewhere'
  }

  async #findEdited(): Promise<void> {
    this.#rows.indexAddresses()
    const kinds = [
      ['missing', false],
      ['elsewhere', true],
    ] as const
    for (const [kind, needsSameTime] of kinds) {
      await this.#each(kind, (lost: Key) =>
        this.#rows.useEdited(lost, needsSameTime) ? 'edited' : undefined,
      )
    }
  }

  /** Gives each signup of a kind another kind, if `work` returns one. */
  async #each(kind: LostKind, work: (lost: Lost) => string | undefined): Promise<void> {
    for (let after = 0; ;) {
      const page = this.#rows.lost(kind, after, pageRows)
      for (const lost of page) {
        const next = work(lost)
        if (next !== undefined) this.#rows.setKind(lost.position, next)
      }
      if (page.length < pageRows) return
      after = page.at(-1)?.position ?? after
      await nextTurn()
    }
  }

  #email(text: string): number {
    return emailNumber(this.#cellKey(text))
  }

  #tab(name: string): number {
    const key = tabKey(name)
    const known = this.#tabs.get(key)
    if (known !== undefined) return known
    this.#tabs.set(key, this.#names.length)
    return this.#names.push(name) - 1
  }
}

/** Lets requests and signals be heard. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
