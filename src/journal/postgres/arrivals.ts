import { createHash } from 'node:crypto'
import { type Source, textOf } from '../moved-state.ts'
import { type MovedRow, signupTable } from '../moved-tables.ts'
import { insertRows, type Run } from './moving-rows.ts'

/** How many positions one statement takes over, so that none takes long. */
const takenAtOnce = 50_000

/**
 * The signups of a journal that moves here, in a table of their own that no instance reads. Each page is
 * committed, so that a move that was stopped goes on behind the last one.
 */
export class Arrivals {
  readonly #run: Run
  readonly #name: string

  /** The table is for one state of one journal, and for the columns that signups have now. */
  constructor(run: Run, { code, state }: Source) {
    const source = [code, textOf(state), ...Object.keys(signupTable.columns)]
    this.#run = run
    this.#name = `arrived_${createHash('sha256').update(source.join(' ')).digest('hex').slice(0, 16)}`
  }

  /** Makes the table if it is missing. Returns the position of the last signup that has arrived, or 0. */
  async open(): Promise<number> {
    await this.#run(
      `CREATE TABLE IF NOT EXISTS rollcall.${this.#name} (LIKE rollcall.signup, PRIMARY KEY (position))`,
    )
    return this.#last()
  }

  add(rows: readonly MovedRow[]): Promise<unknown> {
    return insertRows(this.#run, this.#name, signupTable, rows)
  }

  /** Adds all of them to the journal. To call within the transaction that takes the journal. */
  async take(): Promise<void> {
    const columns = Object.keys(signupTable.columns).join(', ')
    const last = await this.#last()
    for (let after = 0; after < last; after += takenAtOnce) {
      await this.#run(
        `INSERT INTO rollcall.signup (${columns}) SELECT ${columns} FROM rollcall.${this.#name}
         WHERE position > $1 AND position <= $2`,
        [after, after + takenAtOnce],
      )
    }
  }

  async drop(): Promise<void> {
    await this.#run(`DROP TABLE IF EXISTS rollcall.${this.#name}`)
  }

  async #last(): Promise<number> {
    const { rows } = await this.#run(
      `SELECT coalesce(max(position), 0) FROM rollcall.${this.#name}`,
    )
    return Number(rows[0]?.[0])
  }
}
