import { chmod, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './durable-file.ts'

/** The result of `keepToOwner`. */
export interface Kept {
  /** How many files and folders were open to other users and are now closed. */
  readonly corrected: number
  /** How many could not be closed, for example because they belong to another user. */
  readonly failed: number
}

/**
 * Removes all rights of other users to this file, or to this folder and everything below it: folders
 * become 0700, files 0600. Skips links and missing files. Does nothing on Windows, which has no such modes.
 */
export async function keepToOwner(path: string, { below = true } = {}): Promise<Kept> {
  if (process.platform === 'win32') return { corrected: 0, failed: 0 }
  try {
    const stats = await lstat(path)
    if (!stats.isFile() && !stats.isDirectory()) return { corrected: 0, failed: 0 }
    const mode = stats.isDirectory() ? 0o700 : 0o600
    const isOpen = (stats.mode & 0o077) !== 0
    // Close the folder first, so that nobody else can exchange its files meanwhile.
    if (isOpen) await chmod(path, mode)
    const names = below && stats.isDirectory() ? await readdir(path) : []
    const inside = await Array.fromAsync(names, (name) => keepToOwner(join(path, name)))
    return sum([{ corrected: Number(isOpen), failed: 0 }, ...inside])
  } catch (error) {
    return { corrected: 0, failed: codeOf(error) === 'ENOENT' ? 0 : 1 }
  }
}

/** Whether other users have rights to this file or folder, or to anything below it. */
export async function isOpenToOthers(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  try {
    const stats = await lstat(path)
    if (!stats.isFile() && !stats.isDirectory()) return false
    if ((stats.mode & 0o077) !== 0) return true
    for (const name of stats.isDirectory() ? await readdir(path) : []) {
      if (await isOpenToOthers(join(path, name))) return true
    }
  } catch {
    // It has vanished meanwhile, or this user cannot look at it.
  }
  return false
}

export function sum(all: readonly Kept[]): Kept {
  return all.reduce((one, other) => ({
    corrected: one.corrected + other.corrected,
    failed: one.failed + other.failed,
  }))
}
