import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants

/**
 * Changes to files that outlast a power failure: each resolves once its bytes are on the disk. The
 * only place that calls `fsync`. Passed in as an object, so that a test can make any step fail.
 * All reject with the error of Node's file system. No symbolic link is followed at the end of a path.
 */
export interface DurableFiles {
  /** Makes the directory, and those above it, if missing. */
  ensureDirectory(path: string): Promise<void>
  /** Makes the names in a directory last: those of files that `append` created, above all. */
  syncDirectory(path: string): Promise<void>
  /** Gives the file this content at one stroke: a crash leaves the old or the new one, whole. */
  replace(path: string, content: string): Promise<void>
  /**
   * Adds bytes at the file's end, wherever that is by now; creates the file if missing. May have
   * added some of them when it rejects. Its name lasts after `syncDirectory` only.
   */
  append(path: string, bytes: Uint8Array): Promise<void>
  /** Cuts the file to its first `size` bytes. */
  truncate(path: string, size: number): Promise<void>
  /** Deletes the file; one that is missing is fine. */
  remove(path: string): Promise<void>
}

export const durableFiles: DurableFiles = {
  async ensureDirectory(path) {
    try {
      await mkdir(path)
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return
      if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
      await this.ensureDirectory(dirname(path))
      await mkdir(path)
    }
    await this.syncDirectory(dirname(path))
  },

  async syncDirectory(path) {
    // Windows cannot open a directory, and NTFS journals names by itself.
    if (process.platform === 'win32') return
    await using directory = await open(path)
    await directory.sync()
  },

  async replace(path, content) {
    const temporary = `${path}.tmp`
    try {
      {
        await using file = await open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        await file.writeFile(content)
        await file.sync() // Before the rename, or a crash could leave the name on an empty file.
      }
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
    await this.syncDirectory(dirname(path))
  },

  async append(path, bytes) {
    await using file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW)
    await file.writeFile(bytes)
    await file.sync()
  },

  async truncate(path, size) {
    await using file = await open(path, O_WRONLY | O_NOFOLLOW)
    await file.truncate(size)
    await file.sync()
  },

  async remove(path) {
    await rm(path, { force: true })
    await this.syncDirectory(dirname(path))
  },
}

/** Why the file system said no, `ENOENT` for example; undefined for an error of another kind. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
