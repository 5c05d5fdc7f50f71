import { constants } from 'node:fs'
import { type FileHandle, lstat, open, rm } from 'node:fs/promises'
import { codeOf, giveName } from './durable-file.ts'
import { messageOf } from '../message-of.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants

/** A new file that only its owner may read. Disposing of it before `finish` removes it. */
export interface PrivateFile extends AsyncDisposable {
  write(chunk: string | Uint8Array): Promise<void>
  /** Keeps and closes the file. */
  finish(): Promise<void>
}

/** The name is taken, by a link perhaps. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken'
}

/**
 * Makes a file with mode 0600.
 *
 * @throws NameTaken when anything has this name already, a link included; Error when the file cannot be
 *   made. The message says what to do.
 */
export async function makePrivateFile(path: string): Promise<PrivateFile> {
  const file = await openNew(path)
  let isFinished = false
  return {
    async write(chunk) {
      await file.writeFile(chunk).catch((cause: unknown) => {
        throw new Error(`${path} cannot be written: ${reasonOf(cause)}`, { cause })
      })
    },
    async finish() {
      isFinished = true
      await file.close()
    },
    async [Symbol.asyncDispose]() {
      if (isFinished) return
      await file.close()
      await rm(path, { force: true })
    },
  }
}

/**
 * Makes a file with mode 0600 that gets its name only when it is complete. `fill` gets the path of an empty
 * file beside it, `PATH.partial`, which is removed when `fill` rejects.
 *
 * @throws NameTaken when anything has one of the two names already; Error when the file cannot be made
 */
export async function makeWholeFile<T>(
  path: string,
  fill: (partial: string) => Promise<T>,
): Promise<T> {
  // Before all the work, and again below.
  if (await isTaken(path)) throw taken(path)
  const partial = `${path}.partial`
  if (await isTaken(partial)) throw new NameTaken(leftOver(partial))
  await using file = await makePrivateFile(partial)
  const result = await fill(partial)
  try {
    await giveName(partial, path)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw taken(path, cause)
    throw new Error(`${path} cannot be made: ${reasonOf(cause)}`, { cause })
  }
  await file.finish()
  return result
}

async function isTaken(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function leftOver(partial: string): string {
  return (
    `${partial} cannot be made: it exists already. A run that was killed has left it there, or another ` +
    'one is writing it now. When none is running, delete it; else give another name.'
  )
}

function taken(path: string, cause?: unknown): NameTaken {
  return new NameTaken(`${path} cannot be made: ${reasons['EEXIST']}`, { cause })
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  } catch (cause) {
    const Kind = codeOf(cause) === 'EEXIST' ? NameTaken : Error
    throw new Kind(`${path} cannot be made: ${reasonOf(cause)}`, { cause })
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it exists already, and Rollcall overwrites no file. Give another name.',
  ENOENT: 'there is no such folder. Make the folder, or give another name.',
  ENOTDIR: 'a file stands where a folder should be. Give another name.',
  EACCES: 'permission denied. Give a folder where you may write.',
  EROFS: 'the file system is read-only. Give another folder.',
  ENOSPC: 'the disk is full. Free some space, or give another folder.',
  EDQUOT: 'the disk quota is used up. Free some space, or give another folder.',
}

function reasonOf(error: unknown): string {
  const message = messageOf(error)
  return reasons[codeOf(error) ?? ''] ?? `${message}. Check the disk, or give another name.`
}
