import { hash } from 'node:crypto'
import type { Millis } from '../signup/signup.ts'
import { TemporaryTables } from './temporary-tables.ts'

/** A timestamp that cannot be read. */
const noTime = -1

const tables = `
  -- How often a row is in a tab, and how many signups were found for it.
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
  use: `UPDATE noted SET used = used + 1 WHERE (time, email, tab) = (
          SELECT time, email, tab FROM noted WHERE time = ? AND email = ? AND used < seen
          ORDER BY tab = ? DESC LIMIT 1)`,
  addLost: 'INSERT INTO lost VALUES (?, ?, ?, ?, ?)',
  lost: 'SELECT position, time, email, tab FROM lost WHERE kind = ? AND position > ? ORDER BY position LIMIT ?',
  setKind: 'UPDATE lost SET kind = ? WHERE position = ?',
  count: 'SELECT count(*) AS count FROM lost WHERE kind = ?',
  byTime: 'SELECT time, email, tab FROM noted WHERE time = ? AND used = 0 LIMIT 1',
  byEmail: 'SELECT time, email, tab FROM noted WHERE email = ? AND used = 0 LIMIT 1',
  byEmailOnly:
    'SELECT time, email, tab FROM noted WHERE email = ? AND time = -1 AND used = 0 LIMIT 1',
  setUsed: 'UPDATE noted SET used = seen WHERE time = ? AND email = ? AND tab = ?',
  doubles: `SELECT time, tab, seen - used AS extra FROM noted
            WHERE used > 0 AND seen > used ORDER BY time LIMIT ?`,
  sums: `SELECT coalesce(sum(seen), 0) AS rows,
           coalesce(sum(CASE WHEN used > 0 THEN seen - used END), 0) AS double FROM noted`,
  // A row of a known key in a tab where no signup needs it.
  copies: `SELECT coalesce(sum(seen), 0) AS count FROM noted AS copy WHERE used = 0 AND EXISTS (
             SELECT 1 FROM noted WHERE time = copy.time AND email = copy.email AND used > 0)`,
} as const

/** What a signup or a row is known by, as numbers. */
export interface Key {
  readonly time: number
  readonly email: number
  readonly tab: number
}

export interface Lost extends Key {
  readonly position: number
}

/** The rows of a spreadsheet and the signups without a row, in a temporary file that is deleted at the end. */
export class NotedRows implements Disposable {
  readonly #tables = new TemporaryTables(tables, statements)

  clear(): void {
    this.#tables.exec('DELETE FROM noted; DELETE FROM lost')
  }

  [Symbol.dispose](): void {
    this.#tables[Symbol.dispose]()
  }

  note({ time, email, tab }: Key): void {
    this.#tables.run('note', time, email, tab)
  }

  /** Takes one row of this key for a signup, of its own tab first. Returns whether there was one left. */
  use({ time, email, tab }: Key): boolean {
    return this.#tables.run('use', time, email, tab) > 0
  }

  addLost(kind: string, { position, time, email, tab }: Lost): void {
    this.#tables.run('addLost', position, kind, time, email, tab)
  }

  lost(kind: string, after: number, max: number): readonly Lost[] {
    return this.#tables.all('lost', kind, after, max).map((row) => ({
      position: Number(row['position']),
      time: Number(row['time']),
      email: Number(row['email']),
      tab: Number(row['tab']),
    }))
  }

  lostCount(kind: string): number {
    return Number(this.#tables.all('count', kind)[0]?.['count'])
  }

  setKind(position: number, kind: string): void {
    this.#tables.run('setKind', kind, position)
  }

  /** Prepares `useEdited`. */
  indexAddresses(): void {
    this.#tables.exec('CREATE INDEX IF NOT EXISTS noted_by_email ON noted (email) WHERE used = 0')
  }

  /**
   * Takes a row that no signup needs and that agrees in the timestamp or the address.
   *
   * @param needsSameTime whether a readable timestamp has to agree
   */
  useEdited({ time, email }: Key, needsSameTime: boolean): boolean {
    const [row] = [
      ...this.#tables.all('byTime', time),
      ...this.#tables.all(needsSameTime ? 'byEmailOnly' : 'byEmail', email),
    ]
    if (!row) return false
    this.#tables.run('setUsed', Number(row['time']), Number(row['email']), Number(row['tab']))
    return true
  }

  doubles(max: number): readonly { time: Millis; tab: number; extra: number }[] {
    return this.#tables.all('doubles', max).map((row) => ({
      time: Number(row['time']),
      tab: Number(row['tab']),
      extra: Number(row['extra']),
    }))
  }

  sums(): { readonly rows: number; readonly double: number; readonly copies: number } {
    const [sums] = this.#tables.all('sums')
    const [copies] = this.#tables.all('copies')
    return {
      rows: Number(sums?.['rows']),
      double: Number(sums?.['double']),
      copies: Number(copies?.['count']),
    }
  }
}

/** An address as a number of 48 bits, so that the temporary file holds no addresses. */
export function emailNumber(email: string): number {
  return hash('sha256', email, 'buffer').readUIntBE(0, 6)
}

export function timeNumber(at: Millis | undefined): number {
  return at ?? noTime
}
