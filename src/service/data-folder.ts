import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { defaultSite } from '../config/site.ts'
import type { Logger } from '../ops/log.ts'
import type { DirectoryLock } from '../platform/node/directory-lock.ts'
import { keepToOwner, sum } from '../platform/node/owner-only.ts'

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
  const kept = await Array.fromAsync(names, (name) => keepToOwner(join(dataDir, name)))
  const folder = await keepToOwner(dataDir, { below: false })
  const { corrected, failed } = sum([folder, ...kept])
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

/** Logs what happens to the lock. Calls `lost` when another process holds it. */
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
  })
}
