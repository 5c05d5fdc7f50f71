import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { busy } from '../contracts/errors.ts'
import { newSecret } from '../hashes.ts'
import type { MovedJournal } from '../moved-journal.ts'
import type { Given, Value } from '../sql.ts'
import type { ColumnKind, Table } from '../tables/layout.ts'
import { idOfBytes } from '../tables/rows.ts'
import { connect } from './connect.ts'
import { openDatabase } from './open-database.ts'

const pageSize = 1_000

/**
 * Opens the journal in this file to move it to another engine. Changes nothing. Nobody writes to it until
 * disposing closes it.
 *
 * @throws Error when there is no journal or no site in it, when it has another version, or while another
 *   process writes
 */
export function openWholeJournal(file: string): MovedJournal & Disposable {
  using stack = new DisposableStack()
  const { db, secret } = openDatabase(file, { access: 'read' })
  stack.use(db)
  const lock = stack.use(connect(file, { timeout: busy.maxMs }))
  try {
    lock.exec('BEGIN IMMEDIATE')
  } catch (cause) {
    throw new Error(`The journal ${file} cannot be moved: another process writes to it.`, { cause })
  }
  db.exec('BEGIN')
  const site = db.prepare('SELECT code FROM site ORDER BY id LIMIT 1').get()
  if (!site) throw new Error('The journal has no site yet, so there is nothing to move.')
  const opened = stack.move()
  return {
    code: String(site['code']),
    secret: secret ?? newSecret(),
    pages: (table) => pagesOf(db, table),
    [Symbol.dispose]: () => opened.dispose(),
  }
}

/** As `MovedJournal.pages`. */
function* pagesOf(db: DatabaseSync, { name, columns, key }: Table): Generator<readonly Given[]> {
  const kinds = Object.entries(columns)
  const rows = db.prepare(
    `SELECT ${Object.keys(columns).join(', ')} FROM ${name} ORDER BY ${key.join(', ')}`,
  )
  let page: Given[] = []
  for (const row of rows.iterate()) {
    const values = kinds.map(([column, { kind }]) => [column, valueOf(row[column], kind)])
    page.push(Object.fromEntries(values) as Given)
    if (page.length < pageSize) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

function valueOf(value: SQLOutputValue | undefined, kind: ColumnKind): Value {
  if (kind === 'id' && value !== null) return idOfBytes(value as Uint8Array)
  if (kind === 'flag') return value === 1
  return value as Value
}
