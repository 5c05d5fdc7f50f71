import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { busy } from '../contracts/errors.ts'
import { newSecret, type Secret } from '../hashes.ts'
import { type MovedJournal, type MovedState, stateOf, stateSql } from '../moved-journal.ts'
import type { Given, Row, Value } from '../sql.ts'
import type { ColumnKind, Table } from '../tables/layout.ts'
import { idOfBytes } from '../tables/rows.ts'
import { connect } from './connect.ts'
import { sqliteDialect } from './dialect.ts'
import { openDatabase } from './open-database.ts'

const pageSize = 1_000

/** The journal, to be moved to another engine. Nobody writes to it until disposing closes it. */
export class WholeJournal implements MovedJournal, Disposable {
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

  /** @throws Error when there is no site */
  get code(): string {
    const site = this.#row('SELECT code FROM site ORDER BY id LIMIT 1')
    if (!site) throw new Error('The journal has no site yet, so there is nothing to move.')
    return String(site['code'])
  }

  get state(): MovedState {
    return stateOf(this.#row(stateSql(sqliteDialect)))
  }

  count({ name }: Table): number {
    return Number(this.#row(`SELECT count(*) AS count FROM ${name}`)?.['count'])
  }

  *pages({ name, columns, key }: Table, after?: number): Generator<readonly Given[]> {
    const kinds = Object.entries(columns).map(([column, { kind }]) => [column, kind] as const)
    const rows = this.#db
      .prepare(
        `SELECT ${Object.keys(columns).join(', ')} FROM ${name}
         ${after === undefined ? '' : `WHERE ${key.join()} > ${after}`} ORDER BY ${key.join(', ')}`,
      )
      .iterate()
    let page: Given[] = []
    for (const row of rows) {
      page.push(
        Object.fromEntries(kinds.map(([column, kind]) => [column, valueOf(row[column], kind)])),
      )
      if (page.length < pageSize) continue
      yield page
      page = []
    }
    if (page.length > 0) yield page
  }

  [Symbol.dispose](): void {
    this.#db.close()
    this.#lock.close()
  }

  #row(sql: string): Row | undefined {
    return this.#db.prepare(sql).get()
  }
}

function valueOf(value: SQLOutputValue | undefined, kind: ColumnKind): Value {
  if (kind === 'id') return idOfBytes(value as Uint8Array)
  if (kind === 'flag') return value === 1
  return value as string | number | null
}
