import { existsSync, type Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Content, type DurableFiles, ifExists } from '../../platform/node/durable-file.ts'
import { recordFolder } from './record.ts'

/** The folder of a workbook, and what changes its files. */
export interface Folder {
  readonly directory: string
  readonly files: DurableFiles
}

/**
 * Makes a tab's file, or replaces it, in one step: a crash leaves the file as it was, or as it shall be.
 *
 * @param before what the file was when it was read: one that somebody has changed since is left alone
 */
export async function replaceWhole(
  { directory, files }: Folder,
  path: string,
  content: Content,
  before?: Stats,
): Promise<void> {
  const mayReplace = async () => before === undefined || isSame(await ifExists(lstat(path)), before)
  await files.replace(path, content, { temporary: halfWritten(directory), mayReplace })
}

function isSame(now: Stats | undefined, before: Stats): boolean {
  return now?.mtimeMs === before.mtimeMs && now.size === before.size && now.ino === before.ino
}

/** Removes the copy of a tab's file that a crash has left. It has addresses in it. */
export async function removeHalfWritten({ directory, files }: Folder): Promise<void> {
  const path = halfWritten(directory)
  if (existsSync(path)) await files.remove(path)
}

function halfWritten(directory: string): string {
  return join(recordFolder(directory), 'half.tmp')
}
