import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

import { whyUnopened } from '../../platform/node/unusable-file.ts'
import { fingerprintHash, keyHash, type Secret } from '../hashes.ts'
import { busy } from '../contracts/unavailable.ts'
import { connect } from './connect.ts'
import { isOneOf } from './error-codes.ts'
import { noteNoRemains } from './old-remains.ts'
import { addressIndex, migrations } from './schema.ts'
import { makeSecret, readSecret } from './secret.ts'

export interface OpenOptions {
  readonly access: Access
  /** The journal's secret. When it is missing, it is read from its file, or made. */
  readonly secret?: Secret | undefined
  /** Whether the journal needs an index of addresses, to find duplicates. */
  readonly findsAddresses: boolean
}

/**
 * - `own`: for the service. Brings an older journal up to date, and drops the index if it is not needed.
 * - `beside`: to write beside a service, which may be of another version or have other settings. Makes
 *   a new journal, and refuses an older one.
 * - `read`: changes nothing, and refuses a missing or older journal.
 */
export type Access = 'own' | 'beside' | 'read'

/** How long SQLite may block the event loop while another process commits. */
export const blockedMaxMs = 20

export interface OpenDatabase {
  readonly db: DatabaseSync
  /** Undefined when the journal was opened for reading and has none. */
  readonly secret: Secret | undefined
}

/** @throws Error when the file is not a journal, cannot be opened, or is of another version */
export function openDatabase(file: string, options: OpenOptions): OpenDatabase {
  let db: DatabaseSync | undefined
  try {
    const readOnly = options.access === 'read'
    assertNotEmptied(file)
    // Look first, because the search for SQLite's reason would make the file.
    if (readOnly && !existsSync(file)) throw new Error(missing)
    db = connect(file, { readOnly, timeout: busy.maxMs })
    if (readOnly) assertCurrent(db)
    const secret = readOnly ? readSecret(file) : prepare(db, file, options)
    // Most commits of another process take less than this; `SqliteDatabase.write` waits for the others.
    db.exec(`PRAGMA busy_timeout = ${blockedMaxMs}`)
    return { db, secret }
  } catch (cause) {
    db?.close()
    throw new Error(`The journal ${file} cannot be opened: ${reasonOf(cause, file)}`, { cause })
  }
}

function prepare(
  db: DatabaseSync,
  file: string,
  { access, findsAddresses, secret: given }: OpenOptions,
): Secret {
  // Set these on every open, because SQLite does not store them in the file.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
  assertWhole(db)
  if (access === 'beside' && tablesOf(db).length > 0) assertCurrent(db)
  const findSecret = () => given ?? readSecret(file)
  const known = tablesOf(db).length > 0 && access === 'beside' ? findSecret() : undefined
  const secret = known ?? migrate(db, () => findSecret() ?? makeSecret(file))
  if (findsAddresses) db.exec(addressIndex.create)
  else if (access === 'own') db.exec(addressIndex.drop)
  return secret
}

/** Refuses a journal that another version of Rollcall made. */
function assertCurrent(db: DatabaseSync): void {
  const version = versionOf(db)
  if (version < migrations.length) throw new Error(older)
  assertKnown(db, version)
}

/** Checks every page, so that no damaged row is delivered. Takes about 0.3 s for a million signups. */
function assertWhole(db: DatabaseSync): void {
  const findings = db.prepare('PRAGMA quick_check(1)').all()
  const [finding] = Object.values(findings[0] ?? {})
  if (finding !== 'ok') throw new JournalDamaged(`it is damaged (${lastLine(String(finding))})`)
}

/**
 * Makes the tables and the secret in one transaction, because two processes may open a new journal at
 * once. When it throws, closing the database rolls back.
 */
function migrate(db: DatabaseSync, findSecret: () => Secret): Secret {
  db.exec('BEGIN IMMEDIATE')
  const version = versionOf(db)
  // A new journal has version 0, and no tables.
  assertKnown(db, version)
  for (const sql of migrations.slice(version)) db.exec(sql)
  const secret = findSecret()
  if (version === 0) noteNoRemains(db)
  if (version < keysHashedIn) hashKeys(db, secret)
  if (version < migrations.length) db.exec(`PRAGMA user_version = ${migrations.length}`)
  db.exec('COMMIT')
  return secret
}

/** From this version on, idempotency keys are stored as hashes. */
const keysHashedIn = 4

function hashKeys(db: DatabaseSync, secret: Secret): void {
  const all = db.prepare('SELECT site, space, key, fingerprint FROM idempotency_key').all()
  const change = db.prepare(
    `UPDATE idempotency_key SET space = '', key = ?, fingerprint = ?
     WHERE site = ? AND space = ? AND key = ?`,
  )
  for (const { site, ...row } of all) {
    const [space, key, fingerprint] = [row['space'], row['key'], row['fingerprint']].map(String)
    const owned = { space: space ?? '', key: key ?? '' }
    const hashes = [keyHash(secret, owned), fingerprintHash(secret, fingerprint ?? '')]
    change.run(...hashes, Number(site), owned.space, owned.key)
  }
}

/** Refuses a newer journal, and one whose tables are not those of its version. */
function assertKnown(db: DatabaseSync, version: number): void {
  if (version > migrations.length) {
    throw new Error(
      `it was written by a newer version of Rollcall (schema ${version}, this version knows ` +
        `${migrations.length}). Start the newer version, or give another DATA_DIR`,
    )
  }
  using fresh = connect(':memory:')
  for (const sql of migrations.slice(0, version)) fresh.exec(sql)
  if (tablesOf(db).join(';') !== tablesOf(fresh).join(';')) throw new Error(otherTables)
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
}

const missing =
  'there is no such file. Check DATA_DIR, or start the service once, which makes the journal'

const older =
  'it was written by an older version of Rollcall. Start the service once with this version, which ' +
  'brings it up to date'

const otherTables =
  'its tables differ from those of this version of Rollcall, so another version wrote it, perhaps one ' +
  'that was never released. Start that version until it has delivered everything, then move journal.db ' +
  'and its -wal and -shm files away; or give another DATA_DIR'

/** The statements that made the tables and indexes, without comments and without the index of addresses. */
function tablesOf(db: DatabaseSync): string[] {
  const rows = db
    .prepare(
      `SELECT sql FROM sqlite_schema
       WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name <> 'signup_by_address' ORDER BY name`,
    )
    .all()
  return rows.map(({ sql }) =>
    String(sql)
      .replace(/--[^\n]*/g, '')
      .replace(/\s+/g, ' '),
  )
}

/** SQLite deletes the write-ahead log of an empty file, and with it the signups that only the log has. */
function assertNotEmptied(file: string): void {
  const hasLog = sizeOf(`${file}-wal`) > 0
  if (hasLog && sizeOf(file) === 0) throw new JournalDamaged('only its -wal file is left')
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

class JournalDamaged extends Error {
  override readonly name = 'JournalDamaged'
}

function reasonOf(error: unknown, file: string): string {
  if (isOneOf(error, unopened)) return whyUnopened(file, error)
  const message = error instanceof Error ? error.message : String(error)
  return `${message}.${isDamage(error) ? damageHint : ''}`
}

const damageHint =
  ' Restore journal.db and its -wal file from one backup. Without a backup, move both files to another ' +
  'folder, run "sqlite3 journal.db .recover" there to read what is left, and start with a new journal.'

/** The finding itself. SQLite puts a heading above it. */
function lastLine(text: string): string {
  return text.split('\n').at(-1) ?? text
}

/** SQLITE_READONLY, SQLITE_IOERR and SQLITE_CANTOPEN. */
const unopened = [8, 10, 14]
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = [11, 26]

function isDamage(error: unknown): boolean {
  return error instanceof JournalDamaged || isOneOf(error, damaged)
}
