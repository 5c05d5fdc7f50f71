import type { Secret } from './hashes.ts'
import type { Dialect, Given, Row } from './sql.ts'
import type { Table } from './tables/layout.ts'

/** A journal that moves to another engine. Nobody writes to it meanwhile. */
export interface MovedJournal {
  /** The code of its first site, which no other journal has. */
  readonly code: string
  readonly secret: Secret
  readonly state: MovedState
  /** How many rows a table has. */
  count(table: Table): number
  /**
   * The rows of a table in the order of its key, page by page. Each has the values of all columns, in their
   * order: a flag is a boolean, and an id is the text of a UUID.
   *
   * @param after leaves out the rows whose key, which is one number, is not higher
   */
  pages(table: Table, after?: number): Iterable<readonly Given[]>
}

/** How far a journal has come. A journal that only lies there keeps all of it. */
export interface MovedState {
  /** The position of the last signup. */
  readonly signup: number
  /** The highest number that a batch has had. */
  readonly batch: number
  /** When the last batch was settled; 0 when none was. */
  readonly settledAt: number
  /** Grows when somebody is forgotten. */
  readonly forgotten: number
}

/** Reads the state of a journal, for `stateOf`. */
export function stateSql({ lastPosition }: Dialect): string {
  return `SELECT ${lastPosition} AS signup,
    (SELECT value FROM counter WHERE name = 'batch') AS batch,
    (SELECT coalesce(max(last_settled_at), 0) FROM site) AS "settledAt",
    (SELECT count(*) + coalesce(sum(upto), 0) FROM tombstone) AS forgotten`
}

/** The state of such a row, always in this order of keys: it is compared and stored as JSON. */
export function stateOf(row: Row = {}): MovedState {
  return {
    signup: Number(row['signup']),
    batch: Number(row['batch']),
    settledAt: Number(row['settledAt']),
    forgotten: Number(row['forgotten']),
  }
}

export function isSameState(one: MovedState, other: MovedState): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * The refusal of a second move: the journal in the folder has changed since the first one.
 *
 * @param then what was moved
 * @param here the journal in the folder now
 * @param there the journal in the database now
 */
export function wentOn(then: MovedState, here: MovedState, there: MovedState): Error {
  const numbers = (of: (state: MovedState) => number) =>
    `number ${of(then)} at the move, ${of(here)} in DATA_DIR now, ${of(there)} in the database now`
  const way = isSameState(then, there)
    ? 'The database has not changed since: give another, empty database in DATABASE_URL, and move again.'
    : 'The database has changed, too. Choose the one to go on with. Bring those signups of the other one that ' +
      'have no row in the spreadsheet yet with rollcall export --since and rollcall import.'
  return new Error(
    'This journal was moved to the database before, and the one in DATA_DIR has changed since. ' +
      `Last signup: ${numbers(({ signup }) => signup)}. Last batch: ${numbers(({ batch }) => batch)}. ` +
      `Both are left as they are, and nothing is lost. ${way}`,
  )
}
