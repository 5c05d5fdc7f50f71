import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

import type { Clock } from '../../platform/clock.ts'
import { whyUnopened } from '../../platform/node/unusable-file.ts'
import { busy, JournalBusy, JournalUnavailable } from '../unavailable.ts'
import { addressIndex, migrations } from './schema.ts'
import { statements } from './statements.ts'

type Name = keyof typeof statements

export interface DatabaseOptions {
  /** Whether the journal needs an index of addresses, to find duplicates. */
  readonly findsAddresses: boolean
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
}

/** How long SQLite may block the event loop while another process commits. */
const blockedMaxMs = 20

/** One connection to the journal's file, with transactions and named statements. */
export class SqliteDatabase {
  readonly #db: DatabaseSync
  readonly #clock: DatabaseOptions['clock']
  readonly #prepared = new Map<Name, StatementSync>()

  /** @throws Error when the file is not a journal, cannot be opened, or is of a newer version. */
  constructor(file: string, options: DatabaseOptions) {
    this.#clock = options.clock
    let db: DatabaseSync | undefined
    try {
      this.#db = db = new DatabaseSync(file, { timeout: busy.maxMs })
      // Set `synchronous` on every open, because SQLite does not store it in the file.
      this.#db.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
      )
      this.#assertWhole()
      this.#migrate()
      this.#db.exec(options.findsAddresses ? addressIndex.create : addressIndex.drop)
      // Most commits of another process take less than this; `write` waits for the others.
      this.#db.exec(`PRAGMA busy_timeout = ${blockedMaxMs}`)
    } catch (cause) {
      db?.close()
      throw new Error(`The journal ${file} cannot be opened: ${reasonOf(cause, file)}`, { cause })
    }
  }

  close(): void {
    this.#db.close()
  }

  /** Commits all that `work` changes, or nothing when it throws. @throws JournalBusy while another process writes */
  transaction<T>(work: () => T): T {
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      // After some errors, for instance a full disk, SQLite has rolled back already.
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw toUnavailable(error)
    }
  }

  /** Like `transaction`, but waits while another process writes. Rejects with `JournalBusy` after `busy.maxMs`. */
  async write<T>(work: () => T): Promise<T> {
    const until = this.#clock.elapsed() + busy.maxMs
    for (;;) {
      try {
        return this.transaction(work)
      } catch (error) {
        if (!(error instanceof JournalBusy) || this.#clock.elapsed() >= until) throw error
      }
      await this.#clock.sleep(busy.retryMs)
    }
  }

  read<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw toUnavailable(error)
    }
  }

  get(name: Name, ...values: SQLInputValue[]) {
    return this.#statement(name).get(...values)
  }

  all(name: Name, ...values: SQLInputValue[]) {
    return this.#statement(name).all(...values)
  }

  /** Runs a statement and returns how many rows it changed. */
  run(name: Name, ...values: SQLInputValue[]): number {
    return Number(this.#statement(name).run(...values).changes)
  }

  /** Adds a row and returns its rowid. */
  insert(name: Name, ...values: SQLInputValue[]): number {
    return Number(this.#statement(name).run(...values).lastInsertRowid)
  }

  #statement(name: Name): StatementSync {
    let statement = this.#prepared.get(name)
    if (!statement) {
      statement = this.#db.prepare(statements[name])
      this.#prepared.set(name, statement)
    }
    return statement
  }

  /** Checks every page, so that no damaged row is delivered. Takes about 0.3 s for a million signups. */
  #assertWhole(): void {
    const findings = this.#db.prepare('PRAGMA quick_check(1)').all()
    const [finding] = Object.values(findings[0] ?? {})
    if (finding !== 'ok') throw new JournalDamaged(`it is damaged (${lastLine(String(finding))})`)
  }

  /** Makes the tables in one transaction, because two processes may open a new journal at once. */
  #migrate(): void {
    this.transaction(() => {
      const version = Number(this.#db.prepare('PRAGMA user_version').get()?.['user_version'])
      if (version > migrations.length) {
        throw new Error(
          `it was written by a newer version of Rollcall (schema ${version}, this version knows ` +
            `${migrations.length}). Start the newer version, or give another DATA_DIR`,
        )
      }
      // A file with neither a version nor tables is a new journal.
      if (version > 0 || tablesOf(this.#db).length > 0) {
        using fresh = new DatabaseSync(':memory:')
        for (const sql of migrations.slice(0, version)) fresh.exec(sql)
        if (tablesOf(this.#db).join(';') !== tablesOf(fresh).join(';')) throw new Error(otherTables)
      }
      for (const sql of migrations.slice(version)) this.#db.exec(sql)
      if (version < migrations.length) this.#db.exec(`PRAGMA user_version = ${migrations.length}`)
    })
  }
}

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
/** SQLITE_BUSY and SQLITE_LOCKED. */
const occupied = [5, 6]
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = [11, 26]

function isDamage(error: unknown): boolean {
  return error instanceof JournalDamaged || isOneOf(error, damaged)
}

/** Whether it is an error of SQLite with one of these codes. An extended code counts as its base code. */
function isOneOf(error: unknown, codes: readonly number[]): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  return codes.includes(Number(error.errcode) & 0xff)
}

/** Turns SQLite's errors (disk full, I/O, locked) into the journal's, and returns other errors as they are. */
function toUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const Kind = isOneOf(error, occupied) ? JournalBusy : JournalUnavailable
  return new Kind(`The journal cannot be used: ${error.message}.`, { cause: error })
}
