import type { Secret } from './hashes.ts'
import type { Dialect, Given } from './sql.ts'
import type { Table } from './tables/layout.ts'

/** A journal that moves to another engine. Nobody writes to it meanwhile. */
export interface MovedJournal {
  /** The code of its first site, which no other journal has. */
  readonly code: string
  readonly secret: Secret
  /** The row of `stateSql` as JSON. It stays the same while nobody uses the journal. */
  readonly state: string
  /**
   * The rows of a table in the order of its key, page by page. Each has the values of all columns, in their
   * order: a flag is a boolean, and an id is the text of a UUID.
   *
   * @param after leaves out the rows whose key, which is one number, is not higher
   */
  readonly pages: (table: Table, after?: number) => Iterable<readonly Given[]>
}

/**
 * Reads how far a journal has come: its last signup, the highest number that a batch has had, when the last
 * batch was settled, and a number that grows when somebody is forgotten.
 */
export function stateSql({ lastPosition }: Dialect): string {
  return `SELECT ${lastPosition} AS signup,
    (SELECT value FROM counter WHERE name = 'batch') AS batch,
    (SELECT coalesce(max(last_settled_at), 0) FROM site) AS "settledAt",
    (SELECT CAST(count(*) + coalesce(sum(upto), 0) AS bigint) FROM tombstone) AS forgotten`
}
