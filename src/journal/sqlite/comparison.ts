import type { SQLOutputValue } from 'node:sqlite'
import type {
  Compared,
  CompareOptions,
  Comparison,
  DoubleRow,
  FoundKind,
  FoundSignup,
  RowsOfTab,
} from '../comparison.ts'
import { type Millis, tabKey } from '../../signup/signup.ts'
import { emailNumber, type Key, type Lost, NotedRows, timeNumber } from '../noted-rows.ts'
import { RowDigests } from '../row-digests.ts'
import { toSignup } from './rows.ts'
import type { SqliteSite } from './site.ts'

/** Signups read or looked up at once, which takes a few milliseconds. */
const pageRows = 500

/** Signups are kept by their kind until a row is found for them. `waiting` ones are not told. */
type LostKind = FoundKind | 'waiting'

type SqlRow = Record<string, SQLOutputValue>

interface Counts {
  present: number
  waiting: number
  unknown: number
  /** Rows that a signup was found for. */
  used: number
}

export class SqliteComparison implements Comparison {
  readonly #site: Pick<SqliteSite, 'db' | 'id' | 'policy'>
  readonly #cellKey: CompareOptions['cellKey']
  readonly #rows = new NotedRows()
  readonly #digests = new RowDigests()
  /** The numbers of tabs, by key, and their names by number. */
  readonly #tabs = new Map<string, number>()
  readonly #names: string[] = []
  /** Batches up to this one were settled when the comparison began, but for the frozen one. */
  readonly #lastBatch: number
  readonly #frozen: number

  constructor(site: Pick<SqliteSite, 'db' | 'id' | 'policy'>, { cellKey }: CompareOptions) {
    this.#site = site
    this.#cellKey = cellKey
    const { db, id } = site
    const [last, frozen] = db.snapshot(() => [db.get('lastBatch'), db.get('frozenBatch', id)])
    this.#lastBatch = Number(last?.['number'] ?? 0)
    this.#frozen = Number(frozen?.['number'] ?? 0)
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
      const { db, id, policy } = this.#site
      const page = db.read(() =>
        db.all('signupsToCompare', policy.spreadsheet, after, id, pageRows),
      )
      for (const row of page) this.#place(row, counts)
      compared += page.length
      onPage(compared)
      if (page.length < pageRows) break
      after = Number(page.at(-1)?.['position'])
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

  async found(kind: FoundKind, after: number, max: number): Promise<readonly FoundSignup[]> {
    const { db } = this.#site
    return this.#rows.lost(kind, after, max).flatMap(({ position }) => {
      const row = db.read(() => db.get('signupAt', position))
      return row ? [{ position, signup: toSignup(row, String(row['sheetTab'])) }] : []
    })
  }

  doubles(max: number): readonly DoubleRow[] {
    return this.#rows
      .doubles(max)
      .map(({ time, tab, extra }) => ({ at: time, tab: this.#names[tab] ?? '', extra }))
  }

  async deliverAgain(positions: readonly number[], at: Millis): Promise<number> {
    const { db } = this.#site
    return db.write(() => {
      const put = positions.filter(
        (position) => db.run('queueSignup', position, at, this.#lastBatch) > 0,
      )
      for (const position of put) {
        db.run('uncountWritten', position)
        db.run('needRowAgain', position)
      }
      return put.length
    })
  }

  async noteArrived(positions: readonly number[]): Promise<void> {
    const { db } = this.#site
    await db.write(() => {
      for (const position of positions) {
        if (db.run('dropQueued', position) > 0) db.run('recountWritten', position)
        else db.run('noteArrived', position)
      }
    })
  }

  /** Looks for the row of a signup, and keeps the signup when there is none. */
  #place(row: SqlRow, counts: Counts): void {
    if (row['isIgnored'] === 1) return
    if (row['email'] === '') return void (counts.unknown += 1)
    const lost: Lost = {
      position: Number(row['position']),
      time: Number(row['receivedAt']),
      email: this.#email(String(row['email'])),
      tab: this.#tab(String(row['sheetTab'])),
    }
    const kind = this.#standing(row)
    if (kind === 'waiting') counts.waiting += 1
    if (kind !== 'missing' || !this.#rows.use(lost)) return this.#rows.addLost(kind, lost)
    counts.present += 1
    counts.used += 1
  }

  /** What a signup without a row is: one that should have it, one of another spreadsheet, or neither. */
  #standing(row: SqlRow): 'missing' | 'elsewhere' | 'waiting' {
    const { batch, again } = row
    const isHere =
      batch !== null && [null, this.#site.policy.spreadsheet].includes(textOf(row['spreadsheet']))
    const last = Math.max(isHere ? Number(batch) : 0, Number(again ?? 0))
    const isRecent = last > this.#lastBatch || (last > 0 && last === this.#frozen)
    if (row['isQueued'] === 1 || isRecent || batch === null) return 'waiting'
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

function textOf(value: SQLOutputValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}

/** Lets requests and signals be heard. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
