import { backup, type DatabaseSync } from 'node:sqlite'

import { syncFileNow } from '../../platform/node/durable-file.ts'

/** How many pages of 4 KiB one step copies. That takes a few milliseconds. */
const pagesAtOnce = 256
/** After how many steps the file is synced. */
const syncEverySteps = 4

/**
 * Copies the database of this moment into an empty file, while others write to it. What was copied is
 * synced every 4 MiB: a commit of another process may have to wait until the disk has all of it.
 *
 * @throws Error when the file cannot be written; the reason of `stop` when that aborts
 */
export async function copyDatabase(
  db: DatabaseSync,
  file: string,
  stop: AbortSignal,
): Promise<void> {
  // Without this transaction the copy would begin anew with each commit of another process.
  db.exec('BEGIN; SELECT 1 FROM sqlite_schema')
  let steps = 0
  const progress = () => {
    stop.throwIfAborted()
    steps += 1
    if (steps % syncEverySteps === 0) syncFileNow(file)
  }
  try {
    await backup(db, file, { rate: pagesAtOnce, progress })
  } catch (cause) {
    stop.throwIfAborted()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `${file} cannot be written: ${reason}. Check the disk, or give another folder.`,
      { cause },
    )
  } finally {
    db.exec('COMMIT')
  }
}
