import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Holds a directory for one process: a second one is refused. The lock is an open transaction on a
 * small database, so the operating system lets go of it when the process ends, however it ends.
 *
 * @throws Error when another process holds the directory, or when it cannot be written.
 */
export function lockDirectory(directory: string): Disposable {
  const database = new DatabaseSync(join(directory, 'lock'))
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    if (!(cause instanceof Error && cause.message.includes('locked'))) throw cause
    throw new Error(
      `The data directory ${directory} is in use by another process. ` +
        'Stop that process, or give this one another DATA_DIR.',
      { cause },
    )
  }
  return { [Symbol.dispose]: () => database.close() }
}
