import { constants, type Stats } from 'node:fs'
import { lstat, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnColumn } from '../../signup/row.ts'
import { ifExists } from '../../platform/node/durable-file.ts'
import { plainRecord } from '../csv.ts'
import type { Header } from '../header.ts'
import { firstRecord, headOf, readHeaderRow } from './header-row.ts'
import { type Folder, replaceWhole } from './whole-file.ts'

/** A larger file keeps its header row, so that its values go into Metadata. */
const fileBytesMax = 64 * 1024 * 1024

/** The header row that a file gets, in place of its first bytes. */
export interface GrownHeader {
  readonly header: Header
  readonly line: Buffer
  /** How many bytes the line replaces. */
  readonly replaced: number
  /** What the file was when it was read. */
  readonly before: Stats
}

/**
 * Adds the headings of the site's own columns that a tab's file lacks to the right of its header row, if
 * that has all of ours. The file is replaced as a whole, and not when somebody changes it meanwhile. To
 * run while no batch is pending, as a batch knows the sizes of its files.
 */
export async function growHeader(
  folder: Folder,
  fileName: string,
  own: readonly OwnColumn[],
): Promise<void> {
  const path = join(folder.directory, fileName)
  const grown = await grownHeader(path, own)
  if (!grown) return
  const { line, replaced, before } = grown
  const content = Buffer.concat([line, (await readFile(path)).subarray(replaced)])
  await replaceWhole(folder, path, content, before)
}

/** The header row that `growHeader` gives to a file; undefined when it leaves the file as it is. */
export async function grownHeader(
  path: string,
  own: readonly OwnColumn[],
): Promise<GrownHeader | undefined> {
  if (own.length === 0) return undefined
  const before = await ifExists(lstat(path))
  if (!before?.isFile() || before.size > fileBytesMax) return undefined
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  const head = await headOf(file)
  const { header, delimiter } = readHeaderRow(head, own, true)
  const { end: replaced, isWhole } = firstRecord(head, delimiter)
  const isCut = replaced === head.length && head.length < before.size
  if (!header.added || !isWhole || isCut) return undefined
  // Cells without a heading at the end make room for ours.
  const kept = withoutEnd(head.slice(0, replaced), delimiter)
  const added = Buffer.from(delimiter + plainRecord(header.added.headings, delimiter))
  const line = Buffer.concat([Buffer.from(kept, 'latin1'), added])
  const { at } = readHeaderRow(line.toString('latin1'), own).header
  return at.join() === header.at.join() ? { header, line, replaced, before } : undefined
}

function withoutEnd(line: string, delimiter: string): string {
  let end = line.length
  for (;;) {
    const empty = [delimiter, `${delimiter}""`].find((cell) => line.endsWith(cell, end))
    if (empty === undefined) return line.slice(0, end)
    end -= empty.length
  }
}
