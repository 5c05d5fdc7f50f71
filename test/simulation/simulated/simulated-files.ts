import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

import { wholeOf } from '../../../harness/failing-files.ts'
import type { DurableFiles } from '../../../src/platform/node/durable-file.ts'
import type { Dice } from '../dice.ts'

/** The process that changes files. Each change is a step at which it may be killed. */
export interface FileUser {
  /** Whether the process is dead, or is killed at this step. */
  diesAt(step: string): boolean
  /** The error of the disk at this step, if it has one: `ENOSPC` or `EIO`. */
  failsAt(step: string): string | undefined
}

/**
 * The disk of the workbook, in a real folder. A change that fails, or during which the process is killed,
 * is done by half. When the power fails, names that were not synced are gone.
 */
export class SimulatedFiles {
  /** Files that our process may not write. */
  readonly locked = new Set<string>()
  readonly #dice: Dice
  /** Files whose names are not synced yet. */
  readonly #unsynced = new Set<string>()

  constructor(dice: Dice) {
    this.#dice = dice
  }

  /** Loses what is not synced. */
  failPower(): void {
    for (const path of this.#unsynced) rmSync(path, { force: true })
    this.#unsynced.clear()
  }

  /** The files as one process uses them. */
  of(user: FileUser): DurableFiles {
    const step = (name: string, whole: () => void, half: () => void = () => undefined) =>
      this.#step(user, name, whole, half)
    return {
      ensureDirectory: (path) =>
        step('ensureDirectory', () => mkdirSync(path, { recursive: true })),
      syncDirectory: (path) => step('syncDirectory', () => this.#sync(path)),
      replace: async (path, content, options) => {
        const { temporary = `${path}.tmp`, mayReplace } = options ?? {}
        const bytes = await wholeOf(content)
        if (mayReplace && !(await mayReplace())) return
        await step(
          'replace',
          () => {
            writeFileSync(temporary, bytes)
            renameSync(temporary, path)
            this.#sync(dirname(path))
          },
          () => writeFileSync(temporary, bytes.subarray(0, this.#part(bytes.length))),
        )
      },
      append: (path, bytes) =>
        step(
          'append',
          () => this.#append(path, bytes),
          () => this.#append(path, bytes.subarray(0, this.#part(bytes.length))),
        ),
      truncate: (path, size) =>
        step('truncate', () => {
          this.#checkLock(path)
          truncateSync(path, size)
        }),
      remove: (path) =>
        step('remove', () => {
          rmSync(path, { force: true })
          this.#sync(dirname(path))
        }),
    }
  }

  async #step(user: FileUser, name: string, whole: () => void, half: () => void): Promise<void> {
    if (user.diesAt(`before ${name}`)) return never()
    const code = user.failsAt(name)
    if (code !== undefined) {
      half()
      throw failure(code)
    }
    if (user.diesAt(`during ${name}`)) {
      half()
      return never()
    }
    whole()
    if (user.diesAt(`after ${name}`)) return never()
  }

  #append(path: string, bytes: Uint8Array): void {
    this.#checkLock(path)
    if (!existsSync(path)) this.#unsynced.add(path)
    appendFileSync(path, bytes)
  }

  #sync(directory: string): void {
    for (const path of this.#unsynced) if (dirname(path) === directory) this.#unsynced.delete(path)
  }

  #checkLock(path: string): void {
    if (this.locked.has(path)) throw failure('EACCES')
  }

  #part(length: number): number {
    return this.#dice.between(0, length)
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(`The simulated disk fails: ${code}`), { code })
}

function never(): Promise<never> {
  return new Promise(() => {})
}
