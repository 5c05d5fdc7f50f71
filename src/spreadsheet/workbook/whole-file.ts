import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DurableFiles } from '../../platform/node/durable-file.ts'
import { recordFolder } from './record.ts'

/** Makes a tab's file, or replaces it, in one step: a crash leaves the file as it was, or as it shall be. */
export async function replaceWhole(
  files: DurableFiles,
  directory: string,
  path: string,
  content: Buffer,
): Promise<void> {
  await files.replace(path, content, halfWritten(directory))
}

/** Removes the copy of a tab's file that a crash has left. It has addresses in it. */
export async function removeHalfWritten(directory: string, files: DurableFiles): Promise<void> {
  const path = halfWritten(directory)
  if (existsSync(path)) await files.remove(path)
}

function halfWritten(directory: string): string {
  return join(recordFolder(directory), 'half.tmp')
}
