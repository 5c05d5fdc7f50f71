import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'

type ConnectOptions = Pick<DatabaseSyncOptions, 'readOnly' | 'timeout'>

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
