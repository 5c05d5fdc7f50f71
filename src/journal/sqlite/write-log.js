import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/*
 * The thread of `WriteAheadLog`: each message asks it to write the log into the database once. It is
 * JavaScript, because a thread that strips types has 22 MB instead of 12.
 */

/**
 * From how many pages on the log has to begin anew. It does so when all of it is written, which it may never be
 * while commits go on. So they wait while the last few pages are written.
 */
const pagesMax = 8_000
const fewPages = 100
/** How often it writes what was committed meanwhile, before it lets commits wait. */
const passesMax = 5
/** How often it tries to keep writers out. It never waits for readers, as writers would wait, too. */
const triesMax = 20

parentPort?.on('message', () => {
  try {
    using db = new DatabaseSync(workerData)
    const run = (/** @type {string} */ mode) => {
      const { busy, log, checkpointed } = db.prepare(`PRAGMA wal_checkpoint(${mode})`).get() ?? {}
      return { isBusy: busy !== 0, pages: Number(log), waiting: Number(log) - Number(checkpointed) }
    }
    run('PASSIVE')
    const isLong = run('NOOP').pages > pagesMax
    for (let pass = 0; isLong && pass < passesMax && run('NOOP').waiting > fewPages; pass++)
      run('PASSIVE')
    for (let tries = 0; isLong && tries < triesMax && run('FULL').isBusy; tries++);
  } catch {
    // As within a commit, SQLite tells nobody. The log keeps all, and the next time may be better.
  }
  parentPort?.postMessage(undefined)
})
