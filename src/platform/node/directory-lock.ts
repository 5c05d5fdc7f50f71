import { type BigIntStats, closeSync, existsSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import { codeOf, durableFiles } from './durable-file.ts'
import { whyUnopened, whyUnusable } from './unusable-file.ts'

/** How often the holder checks that the lock file is still there. */
const lookMs = 200
/** How long a start waits for another process that only looks (`isLocked`). */
const glanceMs = 50
/** How long a new holder waits when the lock file was missing. A running process notices that sooner. */
const noticedMs = 1_000

export interface LockEvents {
  /** Somebody deleted or replaced the lock file. This process made it again and still holds the lock. */
  remade(): void
  /** The lock file is gone and cannot be made again. Each check tries again; this is called once. */
  unmade(why: string): void
  /** Another process holds a new lock file, so this process must stop at once. Called once. */
  lost(): void
  /** The data file was deleted or replaced, so nothing more that is written there would be kept. Called once. */
  dataLost(): void
}

/**
 * Locks a directory for this process, and makes the directory when it is missing.
 *
 * The lock is an open write transaction on a small SQLite database. The operating system releases it
 * when the process ends, however it ends, and processes that only read cannot block it.
 *
 * @param data a file that every holder leaves in the directory. If it is there without a lock file,
 *   somebody may have deleted the lock file of a running process, which gets a second to notice.
 * @param whenHeld what to do when another process holds the directory: a sentence for the error
 * @throws DirectoryHeld when another process holds the directory; Error when it cannot be made or written
 */
export async function lockDirectory(
  directory: string,
  data: string,
  clock: Pick<Clock, 'sleep'>,
  whenHeld = 'Stop that process, or give this one another DATA_DIR.',
): Promise<DirectoryLock> {
  await makeDataDirectory(directory)
  const file = join(directory, 'lock')
  let held: HeldFile
  try {
    held = hold(file)
  } catch (cause) {
    throw refusal(directory, file, whenHeld, cause)
  }
  if (held.isNew && existsSync(join(directory, data))) {
    await clock.sleep(noticedMs)
    if (identityOf(file) !== held.identity) {
      held.database.close()
      throw new Error(
        `${file} was deleted or replaced during the start. Start again, and leave the file there.`,
      )
    }
  }
  return new DirectoryLock(file, held, join(directory, data))
}

/** Another process holds the directory. It may let go. */
export class DirectoryHeld extends Error {
  override readonly name = 'DirectoryHeld'
}

/** Makes the directory when it is missing. @throws Error when it cannot be made; the message says what to do */
export async function makeDataDirectory(directory: string): Promise<void> {
  try {
    await durableFiles.ensureDirectory(directory)
  } catch (cause) {
    throw new Error(`The data directory ${directory} cannot be made: ${whyUnusable(cause)}`, {
      cause,
    })
  }
}

/** Whether a process holds this directory now. Changes nothing. A start that comes just then waits. */
export function isLocked(directory: string): boolean {
  const file = join(directory, 'lock')
  if (!existsSync(file)) return false
  try {
    using database = new DatabaseSync(file)
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return false
  } catch (error) {
    return isHeld(error)
  }
}

/** A lock that this process holds until it is disposed of. */
export class DirectoryLock implements Disposable {
  readonly #file: string
  readonly #data: string
  #dataIdentity: string | undefined
  #held: HeldFile
  #timer: NodeJS.Timeout | undefined
  #isUnmade = false

  constructor(file: string, held: HeldFile, data: string) {
    this.#file = file
    this.#held = held
    this.#data = data
  }

  /**
   * Checks now, and then a few times a second, that the lock still keeps other processes out, and that the
   * data file is the one that is there now.
   */
  watch(events: LockEvents): void {
    this.#dataIdentity = identityOf(this.#data)
    this.#timer = setInterval(() => this.#look(events), lookMs).unref()
    this.#look(events)
  }

  #look(events: LockEvents): void {
    if (isGone(this.#data, this.#dataIdentity)) {
      clearInterval(this.#timer)
      return events.dataLost()
    }
    if (identityOf(this.#file) === this.#held.identity) return
    try {
      const held = hold(this.#file)
      // Close the old file only now: while it is open, no other file gets its inode number.
      this.#held.database.close()
      this.#held = held
      this.#isUnmade = false
      events.remade()
    } catch (error) {
      // Somebody put our own file back in the meantime: this process still holds the lock.
      if (identityOf(this.#file) === this.#held.identity) return
      if (isHeld(error)) {
        clearInterval(this.#timer)
        events.lost()
      } else if (!this.#isUnmade) {
        this.#isUnmade = true
        events.unmade(whyUnusable(error))
      }
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#held.database.close()
  }
}

interface HeldFile {
  readonly database: DatabaseSync
  readonly identity: string
  readonly isNew: boolean
}

/** Opens and locks the file. Nothing else may open it meanwhile, because closing it would release the lock. */
function hold(file: string): HeldFile {
  const isNew = make(file)
  const identity = identityOf(file)
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: glanceMs })
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE')
    // If the identity has changed, another file may have been opened: try again.
    if (identity !== undefined && identityOf(file) === identity)
      return { database, identity, isNew }
  } catch (error) {
    database?.close()
    throw error
  }
  database.close()
  return hold(file)
}

/** Makes the file. Returns false when it already exists. */
function make(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Identifies the file at this path now; undefined when it is missing or cannot be read. */
function identityOf(file: string): string | undefined {
  try {
    return identityIn(statSync(file, { bigint: true }))
  } catch {
    return undefined
  }
}

function identityIn({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/** Whether another file is at this path now, or none. A disk that does not answer tells neither. */
function isGone(file: string, identity: string | undefined): boolean {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false })
    return !found || identityIn(found) !== identity
  } catch {
    return false
  }
}

function isHeld(error: unknown): boolean {
  return error instanceof Error && error.message.includes('locked')
}

function refusal(directory: string, file: string, whenHeld: string, cause: unknown): Error {
  if (isHeld(cause)) {
    return new DirectoryHeld(
      `The data directory ${directory} is in use by another process. ${whenHeld} ` +
        `Deleting ${file} does not help: the running process makes it again, or stops.`,
      { cause },
    )
  }
  return new Error(
    `The data directory ${directory} cannot be used. Opening ${file}, which keeps a second ` +
      `process out, failed: ${whyUnopened(file, cause)}`,
    { cause },
  )
}
