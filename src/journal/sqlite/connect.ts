import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { busy } from '../contracts/errors.ts'

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
  const db = new DatabaseSync(file, { ...options, enableForeignKeyConstraints: false })
  db.exec('PRAGMA secure_delete = ON')
  return db
}

/** The version of the journal's tables; 0 when it has none. */
export function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
}

/**
 * What is damaged; undefined when the database is sound. `quick_check` reads every page, in about 0.3 s for
 * a million signups. `integrity_check` also compares the indexes with the tables.
 */
export function damageIn(
  db: DatabaseSync,
  check: 'quick_check' | 'integrity_check',
): string | undefined {
  const [finding] = Object.values(db.prepare(`PRAGMA ${check}(1)`).get() ?? {})
  // SQLite puts a heading above it.
  return finding === 'ok' ? undefined : String(finding).split('\n').at(-1)
}

/** The `application_id` of a journal whose pages have no remains of what was erased: "Roll". */
const withoutRemains = 0x526f6c6c

/** Notes in the journal that no page has remains of what was erased. */
export function noteNoRemains(db: DatabaseSync): void {
  db.exec(`PRAGMA application_id = ${withoutRemains}`)
}

/** The size of the journal when its pages may have remains of what was erased; undefined when they have none. */
export function sizeWithRemains(file: string): number | undefined {
  using db = connect(file, { readOnly: true })
  const id = db.prepare('PRAGMA application_id').get()?.['application_id']
  return id === withoutRemains ? undefined : statSync(file).size
}

/**
 * Writes all pages anew, because earlier versions left remains in them, and notes that. It is one
 * transaction: a process that is killed meanwhile has changed nothing.
 *
 * @throws Error when the disk has too little room, or while another process uses the journal
 */
export function dropRemains(file: string): void {
  const { bavail, bsize } = statfsSync(dirname(file))
  // Once in the write-ahead log, and once in a temporary file, which is often on the same disk.
  if (bavail * bsize < 2 * statSync(file).size) throw new Error('The disk has too little room')
  using db = connect(file, { timeout: busy.maxMs })
  try {
    db.exec('VACUUM')
    noteNoRemains(db)
  } finally {
    // The log may be as large as the journal, also after a failure.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }
}

/** Whether it is an error of SQLite with one of these codes. An extended code counts as its base code. */
export function isOneOf(error: unknown, codes: readonly number[]): boolean {
  return codes.includes(errcodeOf(error) & 0xff)
}

/** The extended code of an error of SQLite; 0 for any other error. */
export function errcodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
}
