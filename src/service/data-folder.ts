import { rollcall } from '../platform/command-words.ts'
import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { defaultSite } from '../config/sites/site.ts'
import type { OldJournal } from '../operations/journal-home.ts'
import type { Logger } from '../ops/log.ts'
import type { DirectoryLock } from '../platform/node/directory-lock.ts'
import { durableFiles, readIfThere } from '../platform/node/durable-file.ts'
import { keepToOwner } from '../platform/node/owner-only.ts'
import { whyUnusable } from '../platform/node/unusable-file.ts'

/** The journal's file in `DATA_DIR`. */
export const journalFile = 'journal.db'

/** The folder of a site's local workbook. The files of the default site lie beside the others' folders. */
export function workbookFolder(dataDir: string, site: string): string {
  const folder = join(dataDir, 'sheets')
  return site === defaultSite ? folder : join(folder, site)
}

/** Removes other users' rights to our own files in `DATA_DIR`. The folder may also hold other files. */
export async function keepDataPrivate(dataDir: string, log: Logger): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) =>
    /^(lock|journal\.(db|secret)|sheets$)/.test(name),
  )
  // The folder may be a link to where the data is.
  const { corrected, failed } = await keepToOwner(await realpath(dataDir), names)
  if (corrected > 0) {
    log.warn(
      { folder: dataDir, corrected },
      'other users could read the data: now only its owner can',
    )
  }
  if (failed > 0) {
    const hint = `Run: chown -R $(id -u) ${dataDir} && chmod -R go= ${dataDir}`
    log.error(
      { folder: dataDir, failed, hint },
      'other users may be able to read a part of the data',
    )
  }
}

/** Logs what happens to the lock and the journal. Calls `lost` when the service must stop. */
export function watchLock(
  lock: DirectoryLock,
  folder: string,
  log: Logger,
  lost: () => void,
): void {
  lock.watch({
    remade() {
      const hint = 'Leave the file lock in DATA_DIR alone: it keeps a second process out.'
      log.warn({ folder, hint }, 'the file lock was deleted or replaced: it was made again')
    },
    unmade(reason) {
      const hint =
        'Do not start a second process with this DATA_DIR. Correct the problem that the error names.'
      log.error({ folder, reason, hint }, 'the file lock is gone, and cannot be made again')
    },
    lost() {
      const hint =
        'Run only one process for each DATA_DIR, and never delete the file lock while one is running.'
      log.error(
        { folder, hint },
        'the file lock was deleted, and another process uses DATA_DIR now: this one stops',
      )
      lost()
    },
    dataLost() {
      const hint =
        'What waited for delivery was in it. Restore a backup or start anew, and find out who deleted it.'
      log.error(
        { folder, hint },
        'the journal was deleted or replaced while it was in use: the service stops',
      )
      lost()
    },
  })
}

/** The file in `DATA_DIR` that says where its journal went. */
const markFile = 'journal.moved'

/** Leaves a mark on the journal in this folder, so that nobody starts on it by mistake. */
export function markMoved(dataDir: string, to: string): Promise<void> {
  return durableFiles.replace(join(dataDir, markFile), `${to}\n`)
}

/** @throws Error when the journal in this folder was moved, when a move of it was stopped at its end, or as `movedTo` */
export function assertNotMoved(dataDir: string): void {
  const to = movedTo(dataDir)
  if (to === undefined) return
  throw new Error(
    `The journal in ${dataDir} was moved to PostgreSQL (${to}): set DATABASE_URL again. If the move did ` +
      `not say that it was done, run ${rollcall('migrate-journal')} again. To go on here all the same, delete ` +
      `${join(dataDir, markFile)}: what came in or was written since then is not known here, so rows may be written twice.`,
  )
}

/** Where the journal in this folder went. @throws Error when this user may not look into it; the message says what to do */
export function movedTo(dataDir: string): string | undefined {
  try {
    return readIfThere(join(dataDir, markFile))?.trim()
  } catch (cause) {
    const why = whyUnusable(cause)
    throw new Error(`The data directory ${dataDir} cannot be used: ${why}`, { cause })
  }
}

/** The journal in this folder; undefined when there is none. */
export function oldJournalIn(dataDir: string): OldJournal | undefined {
  const path = join(dataDir, journalFile)
  if (!existsSync(path)) return undefined
  return { path, isMoved: existsSync(join(dataDir, markFile)) }
}

/** What to do about a journal that was not moved. */
export const leftBehindHint =
  'Its waiting signups, and what it knows of people who were forgotten, are not in the database. Run ' +
  `${rollcall('migrate-journal')} with an empty database, or move the folder away when you do not need them.`
