import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ComparedSignups } from '../journal/contracts/comparison.ts'
import type { SignupRecord } from '../journal/contracts/reader.ts'
import { TemporaryTables } from '../platform/node/temporary-tables.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import { cellKey } from '../spreadsheet/csv.ts'
import type { RowKey, RowPart, RowTaker } from '../spreadsheet/spreadsheet.ts'
import { pagesOf } from './pages-of.ts'

/** A timestamp that cannot be read. */
const noTime = -1

/** Rows of a spreadsheet, and signups that have none of them. */
const tables = `
  -- How often a row is in a tab, and how many signups were found for it: -1 when it was edited.
  CREATE TABLE tab_row (
    time INTEGER NOT NULL, email INTEGER NOT NULL, tab INTEGER NOT NULL,
    seen INTEGER NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (time, email, tab)
  ) STRICT, WITHOUT ROWID;
  -- Signups whose row was not found at first, by what is known of them.
  CREATE TABLE rowless (
    position INTEGER PRIMARY KEY, kind TEXT NOT NULL, time INTEGER NOT NULL, email INTEGER NOT NULL,
    tab INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX rowless_by_kind ON rowless (kind, position)`

/** Takes one row of these for a signup. */
function taking(used: string, rows: string): string {
  return `UPDATE tab_row SET used = ${used} WHERE (time, email, tab) = (
            SELECT time, email, tab FROM tab_row WHERE ${rows} LIMIT 1)`
}

const statements = {
  note: `INSERT INTO tab_row VALUES (?, ?, ?, 1, 0)
         ON CONFLICT (time, email, tab) DO UPDATE SET seen = seen + 1`,
  // Of its own tab first.
  take: taking('used + 1', 'time = ? AND email = ? AND used < seen ORDER BY tab = ? DESC'),
  takeOfTime: taking('-1', 'time = ? AND used = 0'),
  takeOfEmail: taking('-1', `email = ? AND used = 0 AND (time = ${noTime} OR NOT ?)`),
  addRowless: 'INSERT INTO rowless VALUES (?, ?, ?, ?, ?)',
  rowless: `SELECT position, time, email, tab FROM rowless
            WHERE kind = ? AND position > ? ORDER BY position LIMIT ?`,
  setKind: 'UPDATE rowless SET kind = ? WHERE position = ?',
  // Rows with a timestamp that no signup was found for.
  strays: `SELECT tab, sum(seen) AS count FROM tab_row WHERE used = 0 AND time <> ${noTime} GROUP BY tab`,
  doubles: `SELECT time, tab, seen - used AS extra FROM tab_row
            WHERE used > 0 AND seen > used ORDER BY time LIMIT ?`,
  sums: `SELECT missing, edited, elsewhere, waiting, rows, double, others
         FROM (
           SELECT coalesce(sum(seen), 0) AS rows,
             coalesce(sum(seen - used) FILTER (WHERE used > 0), 0) AS double,
             coalesce(sum(seen) FILTER (WHERE used <= 0), 0) AS others
           FROM tab_row
         ), (
           SELECT count(*) FILTER (WHERE kind = 'missing') AS missing,
             count(*) FILTER (WHERE kind = 'edited') AS edited,
             count(*) FILTER (WHERE kind = 'elsewhere') AS elsewhere,
             count(*) FILTER (WHERE kind IN ('waiting', 'arrived')) AS waiting
           FROM rowless
         )`,
} as const

/**
 * What a comparison finds out about a signup, unless its row is there as it should be:
 * - `missing`: it was settled in this spreadsheet, and no row agrees with it.
 * - `edited`: it was settled in this spreadsheet, and a row agrees in one of address and timestamp.
 * - `elsewhere`: it was settled in another spreadsheet only, and no row here agrees with it.
 */
export type FoundKind = 'missing' | 'edited' | 'elsewhere'

/** How many there are of each. */
export interface Compared {
  /** Signups whose row was found. */
  readonly present: number
  readonly missing: number
  readonly edited: number
  /** Signups that are not in this spreadsheet, and were settled in another one. */
  readonly elsewhere: number
  /** Signups that wait, or were written during the comparison. They may have a row or not. */
  readonly waiting: number
  /** Signups without an address in the journal, because they were erased. */
  readonly unknown: number
  /** Rows that are there more often, in one tab, than there are signups for them. */
  readonly double: number
  /** Rows that no signup needs: edited ones, and copies in another tab, are among them. */
  readonly others: number
  readonly rows: number
}

/** An `arrived` one waits in the journal, and its row is there, as after a backup was restored. */
type RowlessKind = FoundKind | 'waiting' | 'present' | 'arrived' | 'erased'

interface Rowless {
  readonly position: number
  readonly time: number
  readonly email: number
  readonly tab: number
}

/** What a signup and its row have in common, as numbers. */
type Key = Omit<Rowless, 'position'>

/** Signups read or looked up at once, which takes a few milliseconds. */
const readAtOnce = 500

/** Signups changed at once, which takes about 3 ms. */
const changedAtOnce = 200

/** Begins to compare the signups of a site with rows that are read from now on. */
export async function comparisonOf(signups: ComparedSignups): Promise<Comparison> {
  return new Comparison(signups, await signups.lastSettled())
}

/**
 * Compares the signups of the journal with the rows of the present spreadsheet, by timestamp and
 * address. It keeps a digest of each row in a temporary file that nobody else can open, so its memory
 * does not grow with the rows. Disposing of it deletes that file.
 */
export class Comparison implements RowTaker, Disposable {
  readonly #signups: ComparedSignups
  readonly #lastSettled: number
  readonly #tables = new TemporaryTables(tables, statements)
  readonly #readings = new Readings()
  /** The numbers of tabs, by key, and their names by number. */
  readonly #tabs = new Map<string, number>()
  readonly #names: string[] = []

  constructor(signups: ComparedSignups, lastSettled: number) {
    this.#signups = signups
    this.#lastSettled = lastSettled
  }

  [Symbol.dispose](): void {
    this.#tables[Symbol.dispose]()
  }

  begin(): void {
    this.#tables.exec('DELETE FROM tab_row; DELETE FROM rowless')
    this.#readings.begin()
  }

  async note({ place, tab, rows }: Omit<RowPart, 'kind'>): Promise<void> {
    for (let at = 0; at === 0 || at < rows.length; at += readAtOnce) {
      if (at > 0) await nextTurn()
      const some = rows.slice(at, at + readAtOnce)
      this.#readings.note(place, some)
      for (const row of some) {
        const { time, email, tab: number } = this.#keyOf(row.at ?? noTime, row.email, tab)
        this.#tables.run('note', time, email, number)
      }
    }
  }

  get isSteady(): boolean {
    return this.#readings.isSteady
  }

  /**
   * Compares every signup with the rows of the last reading. Other work runs between two pages.
   *
   * @param onPage is told how many signups were compared so far
   */
  compare(onPage: (signups: number) => void = () => {}): Promise<Compared> {
    return this.#compare(onPage)
  }

  /** @param withErased whether those without cells take rows of their time */
  async #compare(onPage: (signups: number) => void, withErased = false): Promise<Compared> {
    const counts = { present: 0, unknown: 0 }
    let compared = 0
    const pageAfter = (after: number) => this.#signups.page(after, readAtOnce, this.#lastSettled)
    for await (const page of pagesOf(readAtOnce, pageAfter)) {
      for (const { position, receivedAt, email, tab, row } of page) {
        if (row === 'unknown') counts.unknown += 1
        if ((row === 'unknown' && !withErased) || row === 'none') continue
        const key = this.#keyOf(receivedAt, email, tab)
        const kind = row === 'written' ? 'missing' : row === 'unknown' ? 'erased' : row
        if (kind === 'missing' && this.#take(key)) counts.present += 1
        else this.#tables.run('addRowless', position, kind, key.time, key.email, key.tab)
      }
      compared += page.length
      onPage(compared)
    }
    // Signups that must have a row come first. What is left is for those that may have one.
    counts.present += await this.#regroup('elsewhere', 'present', (key) => this.#take(key))
    await this.#regroup('waiting', 'arrived', (key) => this.#take(key))
    await this.#findEdited()
    const sums = this.#tables.all('sums')[0] as unknown as Omit<Compared, keyof typeof counts>
    return { ...counts, ...sums }
  }

  /** The first signups of this kind, at most `max` of them. Call it after `compare`. */
  found(kind: FoundKind, max: number): Promise<readonly SignupRecord[]> {
    return this.#signups.at(this.#rowless(kind, 0, max).map(({ position }) => position))
  }

  /** All signups of this kind, as many at once as may be put back together. Call it after `compare`. */
  async *foundPages(kind: FoundKind): AsyncGenerator<readonly SignupRecord[]> {
    for await (const page of this.#pages(kind, changedAtOnce)) {
      yield await this.#signups.at(page.map(({ position }) => position))
    }
  }

  /** The first rows that are there too often, at most `max`, and by how many. Call it after `compare`. */
  doubles(max: number) {
    return this.#tables.all('doubles', max).map(({ time, tab, extra }) => ({
      at: Number(time),
      tab: this.#names[Number(tab)] ?? '',
      extra: Number(extra),
    }))
  }

  /**
   * Puts signups back into the pending work. Leaves out those that somebody has put there since this
   * comparison began. Returns how many it has put.
   */
  deliverAgain(positions: readonly number[], at: Millis): Promise<number> {
    return this.#signups.deliverAgain(positions, at, this.#lastSettled)
  }

  /**
   * Compares every signup with the rows of the last reading. Notes which waiting signups up to this
   * position have a row, so that they get no other one, and how many rows are of signups that the journal has lost.
   */
  async noteArrived(upto: number): Promise<void> {
    await this.#compare(() => {}, true)
    await this.#regroup('erased', 'edited', ({ time }) => this.#tables.run('takeOfTime', time) > 0)
    const strays = this.#tables.all('strays').map(({ tab, count }) => {
      return [this.#names[Number(tab)] ?? '', Number(count)] as const
    })
    await this.#signups.noteLost(new Map(strays))
    for await (const page of this.#pages('arrived', changedAtOnce)) {
      const positions = page.map(({ position }) => position)
      await this.#signups.noteArrived(positions.filter((position) => position <= upto))
    }
  }

  /** Takes a row of this key for a signup. Returns whether there was one left. */
  #take({ time, email, tab }: Key): boolean {
    return this.#tables.run('take', time, email, tab) > 0
  }

  /** Takes rows that no signup needs and that agree in the timestamp or the address. */
  async #findEdited(): Promise<void> {
    this.#tables.exec('CREATE INDEX IF NOT EXISTS unused ON tab_row (email) WHERE used = 0')
    for (const kind of ['missing', 'elsewhere'] as const) {
      // For a signup of another spreadsheet, a timestamp that can be read has to agree, too.
      const needsSameTime = Number(kind === 'elsewhere')
      await this.#regroup(kind, 'edited', ({ time, email }) => {
        const ofTime = this.#tables.run('takeOfTime', time)
        return ofTime > 0 || this.#tables.run('takeOfEmail', email, needsSameTime) > 0
      })
    }
  }

  /** Gives the signups of a kind that can take a row another kind. Returns how many they are. */
  async #regroup(
    kind: RowlessKind,
    next: RowlessKind,
    takesRow: (key: Key) => boolean,
  ): Promise<number> {
    let count = 0
    for await (const page of this.#pages(kind, readAtOnce)) {
      for (const signup of page) {
        if (takesRow(signup)) count += this.#tables.run('setKind', next, signup.position)
      }
    }
    return count
  }

  #pages(kind: RowlessKind, max: number): AsyncGenerator<readonly Rowless[]> {
    return pagesOf(max, (after) => this.#rowless(kind, after, max))
  }

  #rowless(kind: RowlessKind, after: number, max: number): readonly Rowless[] {
    return this.#tables.all('rowless', kind, after, max) as unknown as readonly Rowless[]
  }

  /** An address is a number of 48 bits, so that the temporary file holds no addresses. */
  #keyOf(time: number, email: string, tab: string): Key {
    const digest = hash('sha256', cellKey(email), 'buffer')
    return { time, email: digest.readUIntBE(0, 6), tab: this.#tab(tab) }
  }

  #tab(name: string): number {
    const number = this.#tabs.get(tabKey(name)) ?? this.#names.push(name) - 1
    this.#tabs.set(tabKey(name), number)
    return number
  }
}

interface TabRows {
  count: number
  /** Of all of them, in their order. */
  digest: string
  /** Whether the first of them are those of the reading before. */
  agrees: boolean
}

/** Tells whether two readings of a spreadsheet gave the same rows in the same order. */
class Readings {
  #before: ReadonlyMap<string, TabRows> | undefined
  #now: Map<string, TabRows> | undefined

  begin(): void {
    this.#before = this.#now
    this.#now = new Map()
  }

  note(place: string, rows: readonly RowKey[]): void {
    const before = this.#before?.get(place)
    const tab = this.#now?.get(place) ?? { count: 0, digest: '', agrees: before?.count === 0 }
    this.#now?.set(place, tab)
    for (const { email, at } of rows) {
      tab.count += 1
      tab.digest = hash('sha256', `${tab.digest}\n${at}\n${email}`)
      if (tab.count === before?.count) tab.agrees = tab.digest === before.digest
    }
  }

  /** Rows may have been added below those of the reading before, as our own batches do. */
  get isSteady(): boolean {
    if (!this.#before) return false
    return [...this.#before.keys()].every((place) => this.#now?.get(place)?.agrees)
  }
}
