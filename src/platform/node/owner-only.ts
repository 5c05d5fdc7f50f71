import { chmod, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './durable-file.ts'

/**
 * Removes all rights of other users to this file, or to this folder and everything below it: folders
 * become 0700, files 0600. Skips links and missing files. Does nothing on Windows, which has no such modes.
 *
 * @param names of what lies in the folder, where it holds other files, too
 * @returns how many were open to other users, and how many of all could not be closed, for example because
 *   they belong to another user
 */
export async function keepToOwner(
  path: string,
  names?: readonly string[],
): Promise<{ readonly corrected: number; readonly failed: number }> {
  const counts = { corrected: 0, failed: 0 }
  for await (const { path: open, mode } of openPaths(path, names)) {
    const isClosed = mode !== undefined && (await close(open, mode))
    counts[isClosed ? 'corrected' : 'failed'] += 1
  }
  return counts
}

/** Whether other users have rights to this file or folder, or to anything below it. */
export async function isOpenToOthers(path: string): Promise<boolean> {
  for await (const { mode } of openPaths(path)) if (mode !== undefined) return true
  return false
}

/** Finds what is open, a folder before its content, so that nobody else can exchange its files meanwhile. */
async function* openPaths(path: string, names?: readonly string[]): AsyncGenerator<OpenPath> {
  if (process.platform === 'win32') return
  try {
    const stats = await lstat(path)
    if (!stats.isFile() && !stats.isDirectory()) return
    if ((stats.mode & 0o077) !== 0) yield { path, mode: stats.isDirectory() ? 0o700 : 0o600 }
    if (!stats.isDirectory()) return
    for (const name of names ?? (await readdir(path))) yield* openPaths(join(path, name))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') yield { path, mode: undefined }
  }
}

interface OpenPath {
  readonly path: string
  /** The mode that closes it; undefined when this user cannot look at it. */
  readonly mode: number | undefined
}

async function close(path: string, mode: number): Promise<boolean> {
  return chmod(path, mode).then(
    () => true,
    (error: unknown) => codeOf(error) === 'ENOENT',
  )
}
