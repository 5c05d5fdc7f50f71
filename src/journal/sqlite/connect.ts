import { DatabaseSync } from 'node:sqlite'

export interface ConnectOptions {
  readonly readOnly?: boolean
  /** How long SQLite waits while another process writes. */
  readonly timeout?: number
}

/**
 * Every connection to a file of the journal. What it erases is overwritten with zeros, and in a copy that
 * it makes, pages have no remains. SQLite stores this in no file, so each connection has to ask for it.
 *
 * SQLite keeps this promise for tables. When it joins pages of an index, it leaves copies of entries that
 * are erased later: see `SqliteDatabase.dropCopies`.
 */
export function connect(file: string, options: ConnectOptions = {}): DatabaseSync {
  const db = new DatabaseSync(file, options)
  db.exec('PRAGMA secure_delete = ON')
  return db
}
