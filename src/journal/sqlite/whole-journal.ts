import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { newSecret, type Secret } from '../hashes.ts'
import {
  keyOf,
  type Kind,
  movedRowsAtOnce,
  type MovedRow,
  type MovedTable,
} from '../moved-tables.ts'
import type { MovedState } from '../moved-state.ts'
import { busy } from '../contracts/unavailable.ts'
import { connect } from './connect.ts'
import { openDatabase } from './open-database.ts'
import { idOfBytes } from './signup-id.ts'

/** Tables that are parts of others here. */
const views: Readonly<Record<string, string>> = {
  progress: '(SELECT id AS tab, written, written_to FROM tab)',
  hour_accepted: '(SELECT site, hour, accepted AS count FROM hour_count WHERE accepted > 0)',
  hour_written: '(SELECT site, hour, written AS count FROM hour_count WHERE written > 0)',
}

/** The journal, to be moved to another engine. Nobody writes to it until disposing closes it. */
export class WholeJournal implements Disposable {
  readonly secret: Secret
  readonly #db: DatabaseSync
  /** Holds the write lock. */
  readonly #lock: DatabaseSync

  /**
   * Changes nothing.
   *
   * @throws Error when there is no journal, or one of another version, or while another process writes
   */
  constructor(file: string) {
    const { db, secret } = openDatabase(file, { access: 'read', findsAddresses: false })
    this.#db = db
    this.secret = secret ?? newSecret()
    this.#lock = connect(file, { timeout: busy.maxMs })
    try {
      this.#lock.exec('BEGIN IMMEDIATE')
    } catch (cause) {
      this[Symbol.dispose]()
      throw new Error(`The journal ${file} cannot be moved: another process writes to it.`, {
        cause,
      })
    }
    db.exec('BEGIN')
  }

  /** The highest number that a batch has had. */
  get lastBatch(): number {
    return this.#number(
      `SELECT coalesce(max(seq), 0) AS value FROM sqlite_sequence WHERE name = 'batch'`,
    )
  }

  get state(): MovedState {
    return {
      signup: this.#number('SELECT coalesce(max(position), 0) AS value FROM signup'),
      batch: this.lastBatch,
      settledAt: this.#number('SELECT coalesce(max(last_settled_at), 0) AS value FROM site'),
      forgotten: this.#number('SELECT count(*) + coalesce(sum(upto), 0) AS value FROM tombstone'),
    }
  }

  count({ name }: MovedTable): number {
    return this.#number(`SELECT count(*) AS value FROM ${views[name] ?? name}`)
  }

  /** All rows, or those behind this key, page by page. */
  *pages(table: MovedTable, after?: MovedRow): Generator<readonly MovedRow[]> {
    const { name, columns, key } = table
    const kinds = Object.entries(columns)
    const keys = key.join(', ')
    const from = `SELECT ${Object.keys(columns).join(', ')} FROM ${views[name] ?? name}`
    const end = `ORDER BY ${keys} LIMIT ${movedRowsAtOnce}`
    const first = this.#db.prepare(`${from} ${end}`)
    const later = this.#db.prepare(
      `${from} WHERE (${keys}) > (${key.map(() => '?').join()}) ${end}`,
    )
    const behind = (key: MovedRow) => later.all(...(key as SQLInputValue[]))
    for (let found = after ? behind(after) : first.all(); found.length > 0;) {
      const rows = found.map((row) => kinds.map(([column, kind]) => valueOf(row[column], kind)))
      yield rows
      found = behind(keyOf(table, rows.at(-1) ?? []))
    }
  }

  [Symbol.dispose](): void {
    this.#db.close()
    this.#lock.close()
  }

  #number(sql: string): number {
    return Number(this.#db.prepare(sql).get()?.['value'])
  }
}

function valueOf(value: SQLOutputValue | undefined, kind: Kind): MovedRow[number] {
  if (value === null || value === undefined) return null
  if (kind === 'id') return idOfBytes(value as Uint8Array)
  if (kind === 'boolean') return value === 1
  return kind === 'number' ? Number(value) : String(value)
}
