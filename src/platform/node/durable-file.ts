import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  statSync,
} from 'node:fs'
import { copyFile, link, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants

/** In pieces when it may be large. */
export type Content = string | Uint8Array | AsyncIterable<Uint8Array>

interface ReplaceOptions {
  /** Where the content is first, on the same disk, and stays after a crash; otherwise beside the file. */
  readonly temporary?: string
  /** Asked when all of the content is on the disk, right before it becomes the file. */
  readonly mayReplace?: () => Promise<boolean>
}

/**
 * Changes files so that the changes survive a power failure: each method resolves once its bytes are
 * on the disk. Only this file calls `fsync`. It is passed in as an object, so that a test can make any
 * step fail. All methods reject with Node's file system error, and refuse a path that is a symbolic link.
 */
export const durableFiles = {
  /** Makes the directory and its parents if they are missing. */
  async ensureDirectory(path: string): Promise<void> {
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

  /** Syncs the file names in a directory. Needed for files that `append` created. */
  async syncDirectory(path: string): Promise<void> {
    // Windows cannot open a directory, and NTFS journals names by itself.
    if (process.platform === 'win32') return
    await using directory = await open(path)
    await directory.sync()
  },

  /**
   * Makes the file, or replaces its content, atomically: after a crash it is the old or the new content,
   * complete, and its name is durable. Only its owner can read it then. A file that root replaces keeps its
   * owner where the file system allows it.
   *
   * Leaves the file as it is when `mayReplace` says so.
   */
  async replace(path: string, content: Content, options: ReplaceOptions = {}): Promise<void> {
    const { temporary = `${path}.tmp`, mayReplace } = options
    try {
      const old = process.getuid?.() === 0 ? await ifExists(lstat(path)) : undefined
      {
        await using file = await open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        if (old && old.uid !== 0) await file.chown(old.uid, old.gid).catch(() => {})
        await file.chmod(0o600)
        await file.writeFile(content)
        await file.sync() // Before the rename, or a crash could leave the name on an empty file.
      }
      if (mayReplace && !(await mayReplace())) {
        await rm(temporary)
        return
      }
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
    await this.syncDirectory(dirname(path))
  },

  /**
   * Adds bytes at the current end of the file; creates the file if missing. When it rejects, it may
   * have added some of the bytes. The name of a new file is durable only after `syncDirectory`.
   */
  async append(path: string, bytes: Uint8Array): Promise<void> {
    await using file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW)
    await file.writeFile(bytes)
    await file.sync()
  },

  /** Cuts the file to its first `size` bytes. */
  async truncate(path: string, size: number): Promise<void> {
    await using file = await open(path, O_WRONLY | O_NOFOLLOW)
    await file.truncate(size)
    await file.sync()
  },

  /** Deletes the file. Does nothing when it is missing. */
  async remove(path: string): Promise<void> {
    await rm(path, { force: true })
    await this.syncDirectory(dirname(path))
  },
}

export type DurableFiles = Readonly<typeof durableFiles>

/** Puts a file that another library wrote on the disk. */
export async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  await file.sync()
}

/** Like `syncFile`. Nothing else happens meanwhile. */
export function syncFileNow(path: string, flag = 'r+'): void {
  const file = openSync(path, flag)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Like `replace`, for a small file that must be there before the process goes on. */
export function replaceNow(path: string, content: string): void {
  const temporary = `${path}.tmp`
  try {
    rmSync(temporary, { force: true })
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600, flush: true })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  if (process.platform !== 'win32') syncFileNow(dirname(path), 'r')
}

/**
 * Gives a finished file its final name, which nothing may have yet, a link included: after a crash there is
 * no file of that name, or the whole file. Rejects with Node's file system error, as `EEXIST`.
 */
export async function giveName(temporary: string, path: string): Promise<void> {
  await syncFile(temporary)
  await addName(temporary, path)
  await rm(temporary)
  await durableFiles.syncDirectory(dirname(path))
}

/** Gives a file a second name, which nothing may have yet. Rejects with Node's file system error, as `EEXIST`. */
export async function addName(path: string, name: string): Promise<void> {
  try {
    await link(path, name)
  } catch (error) {
    if (!withoutLinks.includes(codeOf(error) ?? '')) throw error
    await copyFile(path, name, constants.COPYFILE_EXCL)
    await syncFile(name)
  }
}

/** What file systems say that have no hard links, as those of USB sticks. */
const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** What a look at a file or folder brings; undefined when it is missing. */
export async function ifExists<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The text of a small file; undefined when there is none. */
export function readIfThere(path: string): string | undefined {
  // Every commit looks for a file that is mostly missing, and an error takes six times as long as this look.
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The code of a file system error, for example `ENOENT`; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
