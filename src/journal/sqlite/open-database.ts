import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { readIfThere, replaceNow } from '../../platform/node/durable-file.ts'
import { whyUnopened } from '../../platform/node/unusable-file.ts'
import { messageOf } from '../../platform/message-of.ts'
import { busy } from '../contracts/errors.ts'
import { newSecret, type Secret } from '../hashes.ts'
import { layoutVersion, stepsFrom, otherVersion } from '../tables/versions.ts'
import { connect, damageIn, versionOf } from './connect.ts'
import { isOneOf } from './failure.ts'
import { layoutSql, tableSql } from './schema.ts'

export interface OpenOptions {
  readonly access: Access
  /** The journal's secret. When it is missing, it is read from its file, or made. */
  readonly secret?: Secret | undefined
}

/**
 * - `own`: for the service. Brings an older journal up to date.
 * - `beside`: to write beside a service, which may be of another version or have other settings. Makes
 *   a new journal, and refuses an older one.
 * - `read`: changes nothing, and refuses a missing or older journal.
 */
export type Access = 'own' | 'beside' | 'read'

/** How long SQLite may block the event loop while another process commits. */
export const blockedMaxMs = 20

/**
 * The secret is undefined when the journal was opened for reading and has none.
 *
 * @throws Error when the file is not a journal, cannot be opened, or is of another version
 */
export function openDatabase(
  file: string,
  options: OpenOptions,
): { readonly db: DatabaseSync; readonly secret: Secret | undefined } {
  let db: DatabaseSync | undefined
  try {
    const readOnly = options.access === 'read'
    assertNotEmptied(file)
    // Look first, because the search for SQLite's reason would make the file.
    if (readOnly && !existsSync(file)) throw new Error(missing)
    db = connect(file, { readOnly, timeout: busy.maxMs })
    if (readOnly) usableVersion(db, 'read')
    const secret = readOnly ? readSecret(file) : prepare(db, file, options)
    // Most commits of another process take less than this; `SqliteDatabase.write` waits for the others.
    db.exec(`PRAGMA busy_timeout = ${blockedMaxMs}`)
    return { db, secret }
  } catch (cause) {
    db?.close()
    throw new Error(`The journal ${file} cannot be opened: ${reasonOf(cause, file)}`, { cause })
  }
}

function prepare(db: DatabaseSync, file: string, { access, secret: given }: OpenOptions): Secret {
  // Set these on every open, because SQLite does not store them in the file.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  // No damaged row is delivered.
  const damage = damageIn(db, 'quick_check')
  if (damage !== undefined) throw new Error(`it is damaged (${damage}). ${damageHint}`)
  const version = usableVersion(db, access)
  const findSecret = () => given ?? readSecret(file)
  // A command beside the service needs no lock then.
  const known = access === 'beside' && version > 0 ? findSecret() : undefined
  return known ?? migrate(db, access, () => findSecret() ?? makeSecret(file))
}

/**
 * Makes the tables and the secret in one transaction, because two processes may open a new journal at
 * once. When it throws, closing the database rolls back.
 */
function migrate(db: DatabaseSync, access: Access, findSecret: () => Secret): Secret {
  db.exec('BEGIN IMMEDIATE')
  const version = usableVersion(db, access)
  if (version === 0) db.exec(layoutSql)
  else for (const { sqlite } of stepsFrom(version)) db.exec(sqlite)
  const secret = findSecret()
  if (version < layoutVersion) db.exec(`PRAGMA user_version = ${layoutVersion}`)
  db.exec('COMMIT')
  return secret
}

/** Reads the secret of the journal in this file; undefined when there is none. @throws Error when it is damaged */
function readSecret(journal: string): Secret | undefined {
  const path = secretPath(journal)
  const text = path && readIfThere(path)
  if (text === undefined || /^[0-9a-f]{64}\n$/.test(text)) return text?.trim()
  throw new Error(`its secret, ${path}, is damaged. Put the file back as it was, or delete it`)
}

/** Makes a new secret, and replaces any other one. Only one process may do that at a time. */
function makeSecret(journal: string): Secret {
  const path = secretPath(journal)
  const secret = newSecret()
  if (path !== undefined) replaceNow(path, `${secret}\n`)
  return secret
}

/** The secret's file is beside the journal, and does not belong into backups. A journal in memory has none. */
function secretPath(journal: string): string | undefined {
  return journal === ':memory:' ? undefined : join(dirname(journal), 'journal.secret')
}

/**
 * The version of a journal that may be opened in this way; 0 when it is new.
 *
 * @throws Error when it is newer, or too old, or when its tables are not those of its version
 */
function usableVersion(db: DatabaseSync, access: Access): number {
  const version = versionOf(db)
  if (version === 0 && access === 'read') throw new Error(empty)
  if (version > 0) {
    const other = otherVersion(version, { mayMigrate: access === 'own', elsewhere: 'DATA_DIR' })
    if (other) throw new Error(`${other.why}. ${other.hint}`)
    if (version < layoutVersion) return version
  }
  const expected = new Set(version === 0 ? [] : tableSql.map(partsOf))
  if (expected.symmetricDifference(new Set(madeIn(db))).size > 0) throw new Error(otherTables)
  return version
}

/** What a statement makes, whatever the order: a column that was added later stands behind all else. */
function partsOf(sql: string): string {
  const parts = sql.split(/[(),]/).map((part) => part.trim())
  return parts.toSorted().join(' ')
}

const missing =
  'there is no such file. Check DATA_DIR, or start the service once, which makes the journal'

const empty = 'no journal is in it yet. Start the service once, which makes the journal'

const otherTables =
  'its tables differ from those of this version of Rollcall, so another version wrote it, perhaps one ' +
  'that was never released. Start that version until it has delivered everything, then move journal.db ' +
  'and its -wal and -shm files away; or give another DATA_DIR'

/** The parts of the tables and indexes that were made by name. */
function madeIn(db: DatabaseSync): readonly string[] {
  const made = db.prepare(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  )
  return made.all().map(({ sql }) => partsOf(String(sql)))
}

/** SQLite deletes the write-ahead log of an empty file, and with it the signups that only the log has. */
function assertNotEmptied(file: string): void {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (sizeOf(`${file}-wal`) === 0 || sizeOf(file) > 0) return
  throw new Error(`only its -wal file is left. ${damageHint}`)
}

const damageHint =
  'Restore journal.db and its -wal file from one backup. Without a backup, move both files to another ' +
  'folder, run "sqlite3 journal.db .recover" there to read what is left, and start with a new journal'

const roomHint = 'Free space on its disk and on that of temporary files'

function reasonOf(error: unknown, file: string): string {
  if (isOneOf(error, 'readOnly', 'ioError', 'cannotOpen')) return whyUnopened(file, error)
  const message = messageOf(error)
  if (isOneOf(error, 'full')) return `${message}. ${roomHint}.`
  return isOneOf(error, 'corrupt', 'noDatabase') ? `${message}. ${damageHint}.` : `${message}.`
}
