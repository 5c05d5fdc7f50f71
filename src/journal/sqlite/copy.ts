import { rollcall } from '../../platform/command-words.ts'
import { rmSync, statSync } from 'node:fs'
import { backup } from 'node:sqlite'
import { syncFileNow } from '../../platform/node/durable-file.ts'
import { messageOf } from '../../platform/message-of.ts'
import { connect, damageIn, versionOf } from './connect.ts'
import { isOneOf } from './failure.ts'
import { openDatabase } from './open-database.ts'

/** How many pages of 4 KiB one step copies. That takes a few milliseconds. */
const pagesAtOnce = 256
/** After how many steps the file is synced. */
const syncEverySteps = 4

/**
 * Copies the journal of all sites into this empty file, while others write to it, and checks the copy. It
 * is the journal of one moment: it has every signup that was on disk before the call. Delays no writer, but
 * keeps the write-ahead log from shrinking meanwhile. Returns how many signups the copy has.
 *
 * @throws Error when there is no journal of this version, when the copy cannot be written, or is not sound;
 *   the reason of `stop` when that aborts
 */
export async function copyJournal(file: string, copy: string, stop: AbortSignal): Promise<number> {
  await copyDatabase(file, copy, stop)
  return checkCopy(copy)
}

/** What was copied is synced every 4 MiB: a commit of another process may have to wait until the disk has all of it. */
async function copyDatabase(file: string, copy: string, stop: AbortSignal): Promise<void> {
  using db = openDatabase(file, { access: 'read' }).db
  // Without this transaction the copy would begin anew with each commit of another process.
  db.exec('BEGIN; SELECT 1 FROM sqlite_schema')
  let steps = 0
  const progress = () => {
    stop.throwIfAborted()
    steps += 1
    if (steps % syncEverySteps === 0) syncFileNow(copy)
  }
  try {
    await backup(db, copy, { rate: pagesAtOnce, progress })
  } catch (cause) {
    stop.throwIfAborted()
    const hint = 'Check the disk, or give another folder.'
    throw new Error(`${copy} cannot be written: ${messageOf(cause)}. ${hint}`, { cause })
  }
}

/** Makes the copy one file without a write-ahead log. */
function checkCopy(copy: string): number {
  using db = connect(copy)
  db.exec('PRAGMA journal_mode = DELETE')
  const damage = damageIn(db, 'integrity_check')
  if (damage !== undefined) {
    throw new Error(
      `The copy ${copy} is damaged (${damage}). Check the disk, and the journal with ${rollcall('doctor')}.`,
    )
  }
  return Number(db.prepare('SELECT count(*) AS count FROM signup').get()?.['count'])
}

const noBackup = `it is no backup. Give a file that ${rollcall('backup')} has written`

/**
 * Copies a backup, with all that its log has, if it has one. Changes nothing in it.
 *
 * @throws Error when it is damaged or no journal
 */
export function copyBackup(from: string, to: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${to}${end}`, { force: true })
  try {
    const there = statSync(from, { throwIfNoEntry: false })
    if (!there) throw new Error('there is no such file. Check the name')
    // SQLite would wait for somebody who writes into a pipe.
    if (!there.isFile()) throw new Error('it is not a file. Give a backup')
    using db = connect(from, { readOnly: true })
    if (versionOf(db) === 0) throw new Error(noBackup)
    if (damageIn(db, 'integrity_check') !== undefined)
      throw new Error('it is damaged. Take another backup')
    db.prepare('VACUUM INTO ?').run(to)
  } catch (cause) {
    const reason = isOneOf(cause, 'noDatabase') ? noBackup : messageOf(cause)
    const message = isOneOf(cause, 'ioError', 'full')
      ? `${to} cannot be written. Free some space on its disk.`
      : `${from} cannot be restored: ${reason}.`
    throw new Error(message, { cause })
  }
}
