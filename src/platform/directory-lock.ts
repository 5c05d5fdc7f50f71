import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { durableFiles } from './durable-file.ts'
import { whyUnopened, whyUnusable } from './unusable-file.ts'

/**
 * Holds a directory for one process, and makes it when it is missing: a second process is refused.
 * The lock is an open transaction on a small database, so the operating system lets go of it when
 * the process ends, however it ends. It is the lock of a writer, which those who only read, be they
 * other users, cannot stand in the way of.
 *
 * @throws Error when another process holds the directory, or when it cannot be made or written.
 */
export async function lockDirectory(directory: string): Promise<Disposable> {
  try {
    await durableFiles.ensureDirectory(directory)
  } catch (cause) {
    throw new Error(`The data directory ${directory} cannot be made: ${whyUnusable(cause)}`, {
      cause,
    })
  }
  const file = join(directory, 'lock')
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file)
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE')
  } catch (cause) {
    database?.close()
    throw new Error(refusal(directory, file, cause), { cause })
  }
  const held = database
  return { [Symbol.dispose]: () => held.close() }
}

function refusal(directory: string, file: string, cause: unknown): string {
  if (cause instanceof Error && cause.message.includes('locked')) {
    return (
      `The data directory ${directory} is in use by another process. ` +
      'Stop that process, or give this one another DATA_DIR.'
    )
  }
  return (
    `The data directory ${directory} cannot be used. Opening ${file}, which keeps a second ` +
    `process out, failed: ${whyUnopened(file, cause)}`
  )
}
