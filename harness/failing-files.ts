import { writeFile } from 'node:fs/promises'
import { durableFiles } from '../src/platform/node/durable-file.ts'
import type { Content, DurableFiles } from '../src/platform/node/durable-file.ts'

/** Stands for the end of the process. No later change reaches the disk. */
export class Crash extends Error {
  override readonly name = 'Crash'
}

export interface CrashPoint {
  /** The number of the last change to the disk, from 1. */
  readonly step: number
  /** The share of that change that is made, from 0 to 1. Some changes cannot be made in part. */
  readonly part: number
}

/** The real files, until the process crashes. */
export function crashingFiles({ step, part }: CrashPoint): {
  files: DurableFiles
  hasCrashed(): boolean
} {
  let steps = 0
  const files = interceptedFiles(async (change) => {
    steps += 1
    if (steps < step) return change.make()
    if (steps === step && part === 1) await change.make()
    if (steps === step && part > 0 && part < 1) await change.makePart(part)
    throw new Crash()
  })
  return { files, hasCrashed: () => steps >= step }
}

export interface Change {
  readonly kind: keyof DurableFiles
  readonly path: string
  make(): Promise<void>
  /** Makes a part of the change, as a full disk or a power cut does. `part` is from 0 to 1. */
  makePart(part: number): Promise<void>
}

/** The real files. `intercept` gets each change and decides whether to make it. */
export function interceptedFiles(intercept: (change: Change) => Promise<void>): DurableFiles {
  const simple = (kind: 'ensureDirectory' | 'syncDirectory' | 'remove') => (path: string) =>
    intercept({ kind, path, make: () => durableFiles[kind](path), makePart: async () => {} })
  return {
    ensureDirectory: simple('ensureDirectory'),
    syncDirectory: simple('syncDirectory'),
    remove: simple('remove'),
    replace: (path, content, options) =>
      intercept({
        kind: 'replace',
        path,
        make: () => durableFiles.replace(path, content, options),
        async makePart(part) {
          const bytes = await wholeOf(content)
          const half = bytes.subarray(0, bytes.length * part)
          await writeFile(options?.temporary ?? `${path}.tmp`, half)
        },
      }),
    append: (path, bytes) =>
      intercept({
        kind: 'append',
        path,
        make: () => durableFiles.append(path, bytes),
        makePart: (part) => durableFiles.append(path, bytes.subarray(0, bytes.length * part)),
      }),
    truncate: (path, size) =>
      intercept({
        kind: 'truncate',
        path,
        make: () => durableFiles.truncate(path, size),
        makePart: async () => {},
      }),
  }
}

/** All bytes of a content. */
async function wholeOf(content: Content): Promise<Buffer> {
  if (typeof content === 'string' || content instanceof Uint8Array) return Buffer.from(content)
  return Buffer.concat(await Array.fromAsync(content))
}
