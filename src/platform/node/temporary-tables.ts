import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** SQLite's memory for pages of the temporary file, in KiB. */
const cacheKib = 16 * 1024

/** Tables in a temporary file that nobody else can open, and that is deleted at the end. */
export class TemporaryTables<Name extends string> implements Disposable {
  readonly #db: DatabaseSync
  readonly #statements: Readonly<Record<Name, StatementSync>>

  constructor(tables: string, statements: Readonly<Record<Name, string>>) {
    // SQLite deletes the file of a database without a name when it has opened it.
    this.#db = new DatabaseSync('')
    this.#db.exec(`
      PRAGMA cache_size = -${cacheKib}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      ${tables}; BEGIN`)
    const prepared = Object.entries<string>(statements).map(
      ([name, text]) => [name, this.#db.prepare(text)] as const,
    )
    this.#statements = Object.fromEntries(prepared) as Record<Name, StatementSync>
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  exec(text: string): void {
    this.#db.exec(text)
  }

  /** Runs a statement and returns how many rows it changed. */
  run(name: Name, ...values: SQLInputValue[]): number {
    return Number(this.#statements[name].run(...values).changes)
  }

  /** Whether a query finds a row. */
  has(name: Name, ...values: SQLInputValue[]): boolean {
    return this.#statements[name].get(...values) !== undefined
  }

  all(name: Name, ...values: SQLInputValue[]) {
    return this.#statements[name].all(...values)
  }
}
