import { createHash, type Hash, hash } from 'node:crypto'
import type { ComparedSignups } from '../journal/contracts/comparison.ts'
import type { SignupRecord } from '../journal/contracts/reader.ts'
import { TemporaryTables } from '../platform/node/temporary-tables.ts'
import { type Millis, tabKey } from '../signup/signup.ts'
import type { RowPart } from '../spreadsheet/spreadsheet.ts'

/**
 * Compares the signups of the journal with the rows of the present spreadsheet, by timestamp and
 * address. It keeps a digest of each row in a temporary file that nobody else can open, so its memory
 * does not grow with the rows. Disposing of it deletes that file.
 */
export interface Comparison extends Disposable {
  /** Begins a reading of the spreadsheet, and forgets the rows of the reading before. */
  begin(): void

  /** Notes the next rows of a tab. Other work runs meanwhile. */
  note(part: RowPart): Promise<void>

  /** Whether this reading gave the same rows as the one before, in the same order, and perhaps more below. */
  readonly isSteady: boolean

  /**
   * Compares every signup with the rows of the last reading. Other work runs between two pages.
   *
   * @param onPage is told how many signups were compared so far
   */
  compare(onPage?: (signups: number) => void): Promise<Compared>

  /** At most `max` signups of this kind after this position, in order. Call it after `compare`. */
  found(kind: FoundKind, after: number, max: number): Promise<readonly SignupRecord[]>

  /** The first rows that are there too often, at most `max` of them. Call it after `compare`. */
  doubles(max: number): readonly DoubleRow[]

  /**
   * Puts signups that `found` gave back into the pending work, so that the writer delivers them to the
   * present spreadsheet. Leaves out those that somebody has put there since this comparison began.
   * Returns how many it has put. One transaction: give it a few hundred at most.
   */
  deliverAgain(positions: readonly number[], at: Millis): Promise<number>

  /**
   * Notes which waiting signups up to this position have a row, so that they get no other one. Call it after
   * `compare`.
   */
  noteArrived(upto: number): Promise<void>
}

/**
 * - `missing`: it was settled in this spreadsheet, and no row agrees with it.
 * - `edited`: it was settled in this spreadsheet, and a row agrees in one of address and timestamp.
 * - `elsewhere`: it was settled in another spreadsheet only, and no row here agrees with it.
 * - `arrived`: it waits in the journal, and a row agrees with it, as after a backup was restored.
 */
export type FoundKind = 'missing' | 'edited' | 'elsewhere' | 'arrived'

export interface DoubleRow {
  readonly at: Millis
  readonly tab: string
  /** How many rows there are too many. */
  readonly extra: number
}

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
  /** Rows that people copied to another tab. */
  readonly copies: number
  /** Rows that agree with no signup. An edited row is one of them. */
  readonly others: number
  /** All rows. */
  readonly rows: number
}

export interface CompareOptions {
  /** The text of a cell's address for comparison: spreadsheets may put an apostrophe in front. */
  readonly cellKey: (text: string) => string
}

/** Signups read or looked up at once, which takes a few milliseconds. */
const pageRows = 500

/** Signups that are noted at once. */
const notedAtOnce = 200

/** A timestamp that cannot be read. */
const noTime = -1

const tables = `
  -- How often a row is in a tab, and how many signups were found for it: -1 when it was edited.
  CREATE TABLE noted (
    time INTEGER NOT NULL, email INTEGER NOT NULL, tab INTEGER NOT NULL,
    seen INTEGER NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (time, email, tab)
  ) STRICT, WITHOUT ROWID;
  -- Signups without a row, by what is known of them.
  CREATE TABLE lost (
    position INTEGER PRIMARY KEY, kind TEXT NOT NULL, time INTEGER NOT NULL, email INTEGER NOT NULL,
    tab INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX lost_by_kind ON lost (kind, position)`

const statements = {
  note: `INSERT INTO noted VALUES (?, ?, ?, 1, 0)
         ON CONFLICT (time, email, tab) DO UPDATE SET seen = seen + 1`,
  // Of its own tab first.
  use: `UPDATE noted SET used = used + 1 WHERE (time, email, tab) = (
          SELECT time, email, tab FROM noted WHERE time = ? AND email = ? AND used < seen
          ORDER BY tab = ? DESC LIMIT 1)`,
  addLost: 'INSERT INTO lost VALUES (?, ?, ?, ?, ?)',
  lost: 'SELECT position, time, email, tab FROM lost WHERE kind = ? AND position > ? ORDER BY position LIMIT ?',
  setKind: 'UPDATE lost SET kind = ? WHERE position = ?',
  useOfTime: `UPDATE noted SET used = -1 WHERE (time, email, tab) = (
                SELECT time, email, tab FROM noted WHERE time = ? AND used = 0 LIMIT 1)`,
  useOfEmail: `UPDATE noted SET used = -1 WHERE (time, email, tab) = (
                 SELECT time, email, tab FROM noted
                 WHERE email = ? AND used = 0 AND (time = ${noTime} OR NOT ?) LIMIT 1)`,
  doubles: `SELECT time, tab, seen - used AS extra FROM noted
            WHERE used > 0 AND seen > used ORDER BY time LIMIT ?`,
  // A copy is a row of a known key in a tab where no signup needs it.
  sums: `SELECT missing, edited, elsewhere, rows, double, copies, unused - copies AS others
         FROM (
           SELECT coalesce(sum(seen), 0) AS rows,
             coalesce(sum(seen - used) FILTER (WHERE used > 0), 0) AS double,
             coalesce(sum(seen) FILTER (WHERE used <= 0), 0) AS unused,
             coalesce(sum(seen) FILTER (WHERE used <= 0 AND EXISTS (
               SELECT 1 FROM noted WHERE time = row.time AND email = row.email AND used > 0
             )), 0) AS copies
           FROM noted AS row
         ), (
           SELECT count(*) FILTER (WHERE kind = 'missing') AS missing,
             count(*) FILTER (WHERE kind = 'edited') AS edited,
             count(*) FILTER (WHERE kind = 'elsewhere') AS elsewhere
           FROM lost
         )`,
} as const

/** Signups are kept by their kind until a row is found for them. `waiting` ones are not told. */
type LostKind = FoundKind | 'waiting'

/** A signup without a row. It and a row are known by numbers. */
interface Lost {
  readonly position: number
  readonly time: number
  readonly email: number
  readonly tab: number
}

/** Compares the signups of a site with rows, from now on. */
export async function comparisonOf(
  signups: ComparedSignups,
  { cellKey }: CompareOptions,
): Promise<Comparison> {
  return new RowComparison(signups, await signups.lastSettled(), cellKey)
}

class RowComparison implements Comparison {
  readonly deliverAgain: Comparison['deliverAgain']
  readonly #signups: ComparedSignups
  readonly #lastSettled: number
  readonly #cellKey: CompareOptions['cellKey']
  readonly #tables = new TemporaryTables(tables, statements)
  readonly #digests = new RowDigests()
  /** The numbers of tabs, by key, and their names by number. */
  readonly #tabs = new Map<string, number>()
  readonly #names: string[] = []

  constructor(signups: ComparedSignups, lastSettled: number, cellKey: CompareOptions['cellKey']) {
    this.deliverAgain = (positions, at) => signups.deliverAgain(positions, at, lastSettled)
    this.#signups = signups
    this.#lastSettled = lastSettled
    this.#cellKey = cellKey
  }

  [Symbol.dispose](): void {
    this.#tables[Symbol.dispose]()
  }

  begin(): void {
    this.#tables.exec('DELETE FROM noted; DELETE FROM lost')
    this.#digests.begin()
  }

  async note(part: RowPart): Promise<void> {
    const tab = this.#tab(part.tab)
    for (let at = 0; at === 0 || at < part.rows.length; at += pageRows) {
      if (at > 0) await nextTurn()
      const rows = part.rows.slice(at, at + pageRows)
      this.#digests.note({ ...part, rows })
      for (const { email, at: time } of rows) {
        this.#tables.run('note', time ?? noTime, this.#email(email), tab)
      }
    }
  }

  get isSteady(): boolean {
    return this.#digests.isSteady
  }

  async compare(onPage: (signups: number) => void = () => {}): Promise<Compared> {
    const counts = { present: 0, waiting: 0, unknown: 0 }
    let compared = 0
    for (let after = 0; ;) {
      const page = await this.#signups.page(after, pageRows, this.#lastSettled)
      for (const { position, receivedAt, email, tab, row } of page) {
        if (row === 'unknown' || row === 'waiting') counts[row] += 1
        if (row === 'unknown' || row === 'none') continue
        const key = { time: receivedAt, email: this.#email(email), tab: this.#tab(tab) }
        const kind = row === 'written' ? 'missing' : row
        if (kind === 'missing' && this.#use(key)) counts.present += 1
        else this.#tables.run('addLost', position, kind, key.time, key.email, key.tab)
      }
      compared += page.length
      onPage(compared)
      if (page.length < pageRows) break
      after = page.at(-1)?.position ?? after
      await nextTurn()
    }
    // Signups that must have a row come first. What is left is for those that may have one.
    counts.present += await this.#each('elsewhere', 'found', (lost) => this.#use(lost))
    await this.#each('waiting', 'arrived', (lost) => this.#use(lost))
    await this.#findEdited()
    const sums = this.#tables.all('sums')[0] as unknown as Omit<Compared, keyof typeof counts>
    return { ...counts, ...sums }
  }

  found(kind: FoundKind, after: number, max: number): Promise<readonly SignupRecord[]> {
    return this.#signups.at(this.#lost(kind, after, max).map(({ position }) => position))
  }

  async noteArrived(upto: number): Promise<void> {
    for (let after = 0; ;) {
      const page = this.#lost('arrived', after, notedAtOnce)
      const positions = page.map(({ position }) => position)
      await this.#signups.noteArrived(positions.filter((position) => position <= upto))
      if (page.length < notedAtOnce) return
      after = page.at(-1)?.position ?? after
    }
  }

  doubles(max: number): readonly DoubleRow[] {
    return this.#tables.all('doubles', max).map(({ time, tab, extra }) => ({
      at: Number(time),
      tab: this.#names[Number(tab)] ?? '',
      extra: Number(extra),
    }))
  }

  /** Takes one row of this key for a signup. Returns whether there was one left. */
  #use({ time, email, tab }: Omit<Lost, 'position'>): boolean {
    return this.#tables.run('use', time, email, tab) > 0
  }

  /** Takes rows that no signup needs and that agree in the timestamp or the address. */
  async #findEdited(): Promise<void> {
    this.#tables.exec('CREATE INDEX IF NOT EXISTS noted_by_email ON noted (email) WHERE used = 0')
    for (const kind of ['missing', 'elsewhere'] as const) {
      // For a signup of another spreadsheet, a timestamp that can be read has to agree, too.
      const needsSameTime = Number(kind === 'elsewhere')
      await this.#each(kind, 'edited', ({ time, email }) => {
        const ofTime = this.#tables.run('useOfTime', time)
        return ofTime > 0 || this.#tables.run('useOfEmail', email, needsSameTime) > 0
      })
    }
  }

  /** Gives the signups of a kind for which `isNow` holds the kind `next`. Returns how many they are. */
  async #each(
    kind: LostKind,
    next: FoundKind | 'found',
    isNow: (lost: Lost) => boolean,
  ): Promise<number> {
    let count = 0
    for (let after = 0; ;) {
      const page = this.#lost(kind, after, pageRows)
      for (const lost of page) {
        if (isNow(lost)) count += this.#tables.run('setKind', next, lost.position)
      }
      if (page.length < pageRows) return count
      after = page.at(-1)?.position ?? after
      await nextTurn()
    }
  }

  #lost(kind: LostKind, after: number, max: number): readonly Lost[] {
    return this.#tables.all('lost', kind, after, max) as unknown as readonly Lost[]
  }

  /** An address as a number of 48 bits, so that the temporary file holds no addresses. */
  #email(text: string): number {
    return hash('sha256', this.#cellKey(text), 'buffer').readUIntBE(0, 6)
  }

  #tab(name: string): number {
    const key = tabKey(name)
    const known = this.#tabs.get(key)
    if (known !== undefined) return known
    this.#tabs.set(key, this.#names.length)
    return this.#names.push(name) - 1
  }
}

interface TabDigest {
  count: number
  readonly hash: Hash
  /** Whether it begins with all rows of the reading before. */
  agrees: boolean
}

/** Tells whether two readings of a spreadsheet gave the same rows in the same order. */
class RowDigests {
  #before: ReadonlyMap<string, TabDigest> | undefined
  #now: Map<string, TabDigest> | undefined

  begin(): void {
    this.#before = this.#now
    this.#now = new Map()
  }

  note({ place, rows }: RowPart): void {
    const before = this.#before?.get(place)
    const tab = this.#now?.get(place) ?? { count: 0, hash: createHash('sha256'), agrees: false }
    this.#now?.set(place, tab)
    const look = () => {
      if (before?.count === tab.count) tab.agrees = hexOf(before.hash) === hexOf(tab.hash)
    }
    look()
    for (const { email, at } of rows) {
      tab.hash.update(`${email}\n${at}\n`)
      tab.count += 1
      look()
    }
  }

  /** Rows may have been added below those of the reading before, as our own batches do. */
  get isSteady(): boolean {
    if (!this.#before) return false
    return [...this.#before.keys()].every((place) => this.#now?.get(place)?.agrees)
  }
}

function hexOf(hash: Hash): string {
  return hash.copy().digest('hex')
}

/** Lets requests and signals be heard. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
