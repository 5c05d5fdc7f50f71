import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import { codeOf, durableFiles } from './durable-file.ts'
import { whyUnopened, whyUnusable } from './unusable-file.ts'

/** How often the holder looks whether the file of the lock is still there. */
const lookMs = 200
/** What a new holder waits where the file was deleted: a running process has noticed it by then. */
const noticedMs = 1_000

export interface LockEvents {
  /** Somebody deleted or replaced the file; it was made again, and this process holds it. */
  remade(): void
  /** The same, and it cannot be made again, which is tried at every look. Told once. */
  unmade(why: string): void
  /** The same, and another process holds the new file: this one has to stop at once. Told once. */
  lost(): void
}

export interface DirectoryLock extends Disposable {
  /** Looks now, and a few times a second from then on, whether the lock still keeps others out. */
  watch(events: LockEvents): void
}

/**
 * Holds a directory for one process, and makes it when it is missing: a second process is refused.
 * The lock is an open transaction on a small database, so the operating system lets go of it when
 * the process ends, however it ends. It is the lock of a writer, which those who only read, be they
 * other users, cannot stand in the way of. Where `data`, a file that every holder leaves in the
 * directory, is there without a lock, a running process gets a second to notice that.
 *
 * @throws Error when another process holds the directory, or when it cannot be made or written.
 */
export async function lockDirectory(
  directory: string,
  data: string,
  clock: Pick<Clock, 'sleep'>,
): Promise<DirectoryLock> {
  try {
    await durableFiles.ensureDirectory(directory)
  } catch (cause) {
    throw new Error(`The data directory ${directory} cannot be made: ${whyUnusable(cause)}`, {
      cause,
    })
  }
  const file = join(directory, 'lock')
  let held: HeldFile
  try {
    held = hold(file)
  } catch (cause) {
    throw new Error(refusal(directory, file, cause), { cause })
  }
  if (held.isNew && existsSync(join(directory, data))) {
    await clock.sleep(noticedMs)
    if (identityOf(file) !== held.identity) {
      held.database.close()
      throw new Error(
        `${file} was deleted or replaced during the start. Leave it there; start again.`,
      )
    }
  }
  return new WatchedLock(file, held)
}

class WatchedLock implements DirectoryLock {
  readonly #file: string
  #held: HeldFile
  #timer: NodeJS.Timeout | undefined
  #isUnmade = false

  constructor(file: string, held: HeldFile) {
    this.#file = file
    this.#held = held
  }

  watch(events: LockEvents): void {
    this.#timer = setInterval(() => this.#look(events), lookMs).unref()
    this.#look(events)
  }

  #look(events: LockEvents): void {
    if (identityOf(this.#file) === this.#held.identity) return
    try {
      const held = hold(this.#file)
      // Not before: while it is open, its number is given to no other file.
      this.#held.database.close()
      this.#held = held
      this.#isUnmade = false
      events.remade()
    } catch (error) {
      // Somebody put it back meanwhile, and it is this process that holds it.
      if (identityOf(this.#file) === this.#held.identity) return
      if (isLocked(error)) {
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
  /** This process made it. */
  readonly isNew: boolean
}

/** The file must not be opened in any other way while it is held: closing it would let go of the lock. */
function hold(file: string): HeldFile {
  const isNew = make(file)
  const identity = identityOf(file)
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file)
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE')
    // Otherwise it may be another file that was opened.
    if (identity !== undefined && identityOf(file) === identity)
      return { database, identity, isNew }
  } catch (error) {
    database?.close()
    throw error
  }
  database.close()
  return hold(file)
}

/** Whether the file was missing. */
function make(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Of the file that has this path now; undefined when there is none, or none that can be seen. */
function identityOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes('locked')
}

function refusal(directory: string, file: string, cause: unknown): string {
  if (isLocked(cause)) {
    return (
      `The data directory ${directory} is in use by another process. ` +
      'Stop that process, or give this one another DATA_DIR. ' +
      `Deleting ${file} does not help: the process that runs makes it again, or stops.`
    )
  }
  return (
    `The data directory ${directory} cannot be used. Opening ${file}, which keeps a second ` +
    `process out, failed: ${whyUnopened(file, cause)}`
  )
}
