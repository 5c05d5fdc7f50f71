import { constants } from 'node:fs'
import { lstat, open, rm } from 'node:fs/promises'
import { codeOf, giveName } from './durable-file.ts'
import { fileProblem } from './unusable-file.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
const newFile = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW

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
  const file = await open(path, newFile, 0o600).catch((cause: unknown) => {
    throw failure(path, 'made', cause)
  })
  let isFinished = false
  return {
    async write(chunk) {
      await file.writeFile(chunk).catch((cause: unknown) => {
        throw failure(path, 'written', cause)
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
  if (await isTaken(path)) throw nameTaken(path)
  const partial = `${path}.partial`
  if (await isTaken(partial)) throw new NameTaken(leftOver(partial))
  await using file = await makePrivateFile(partial)
  const result = await fill(partial)
  await giveName(partial, path).catch((cause: unknown) => {
    throw failure(path, 'made', cause)
  })
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

function nameTaken(path: string, cause?: unknown): NameTaken {
  const why = 'it exists already, and Rollcall overwrites no file. Give another name.'
  return new NameTaken(`${path} cannot be made: ${why}`, { cause })
}

function failure(path: string, what: 'made' | 'written', cause: unknown): Error {
  if (codeOf(cause) === 'EEXIST') return nameTaken(path, cause)
  const why = `${fileProblem(cause)}. Check the disk, or give another name.`
  return new Error(`${path} cannot be ${what}: ${why}`, { cause })
}
