import { chmod, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from './durable-file.ts'

/** What `keepToOwner` did. */
export interface Kept {
  /** How many files and folders others could reach until now. */
  readonly corrected: number
  /** How many they still can: they belong to another user, for example. */
  readonly failed: number
}

/**
 * Takes from everybody but the owner what they may do with this file, or this folder and all below it:
 * folders become 0700, files 0600. Links are left alone, and what is missing is fine. Where file modes
 * mean nothing (Windows), it does nothing.
 */
export async function keepToOwner(path: string, { below = true } = {}): Promise<Kept> {
  if (process.platform === 'win32') return { corrected: 0, failed: 0 }
  try {
    const stats = await lstat(path)
    if (!stats.isFile() && !stats.isDirectory()) return { corrected: 0, failed: 0 }
    const mode = stats.isDirectory() ? 0o700 : 0o600
    const isOpen = (stats.mode & 0o077) !== 0
    // The folder first: nobody else can exchange what is in it then.
    if (isOpen) await chmod(path, mode)
    const names = below && stats.isDirectory() ? await readdir(path) : []
    const inside = await Array.fromAsync(names, (name) => keepToOwner(join(path, name)))
    return sum([{ corrected: Number(isOpen), failed: 0 }, ...inside])
  } catch (error) {
    return { corrected: 0, failed: codeOf(error) === 'ENOENT' ? 0 : 1 }
  }
}

export function sum(all: readonly Kept[]): Kept {
  return all.reduce((one, other) => ({
    corrected: one.corrected + other.corrected,
    failed: one.failed + other.failed,
  }))
}
