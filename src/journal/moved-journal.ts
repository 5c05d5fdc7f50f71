import type { Secret } from './hashes.ts'
import type { Given } from './sql.ts'
import type { Table } from './tables/layout.ts'

/** A journal that moves to another engine. Nobody writes to it meanwhile. */
export interface MovedJournal {
  /** The code of its first site, which no other journal has. */
  readonly code: string
  readonly secret: Secret
  /**
   * The rows of a table, page by page. Each has the values of all columns, in their order: a flag is a
   * boolean, and an id is the text of a UUID.
   */
  readonly pages: (table: Table) => Iterable<readonly Given[]>
}
