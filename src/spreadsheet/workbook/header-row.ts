import { type FileHandle, lstat, open, readFile } from 'node:fs/promises'
import { noColumns, type OwnColumn } from '../../signup/row.ts'
import { type Header, readHeader } from '../header.ts'
import { delimiters, plainRecord } from '../csv.ts'
import { constants, type Stats } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../platform/node/durable-file.ts'
import { type Folder, replaceWhole } from './whole-file.ts'

export interface HeaderRow {
  readonly header: Header
  readonly delimiter: string
}

const headBytesMax = 64 * 1024

/** The beginning of a file, with one character for each byte. */
export async function headOf(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytesMax), 0, headBytesMax, 0)
  return buffer.toString('latin1', 0, bytesRead)
}

/**
 * Reads the first record of a file's text, which has one character for each byte. The delimiter is the
 * one that makes it a header, or else a comma. With `mayAdd`, the header tells which headings of the
 * site's own it lacks.
 */
export function readHeaderRow(
  head: string,
  own: readonly OwnColumn[] = noColumns,
  mayAdd = false,
): HeaderRow {
  const read = delimiters.map((delimiter) => {
    const header = readHeader(firstRecord(head, delimiter).cells, own, mayAdd)
    return { header, delimiter }
  })
  const found =
    read.find(({ header }) => header.kind === 'ours') ??
    read.find(({ header }) => header.kind === 'named')
  return found ?? { header: readHeader([], own), delimiter: ',' }
}

/** The first record of a file's text, where it ends, and whether a line end or the end of the text follows. */
export function firstRecord(head: string, delimiter: string) {
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\\r\\n]*))(${delimiter}|)`, 'gy')
  cell.lastIndex = head.startsWith('\xef\xbb\xbf') ? 3 : 0
  const cells: string[] = []
  let end = 0
  let isClosed = true
  for (const [all, quoted, bare, mark] of head.matchAll(cell)) {
    const bytes = quoted?.replaceAll('""', '"') ?? bare ?? ''
    cells.push(Buffer.from(bytes, 'latin1').toString('utf8'))
    end += all.length
    // A quote that nothing closes: the cell goes on behind its line.
    isClosed &&= !bare?.startsWith('"')
    if (mark === '') break
  }
  end += cell.lastIndex
  return { cells, end, isWhole: isClosed && /^[\r\n]?$/.test(head.charAt(end)) }
}

/** A larger file keeps its header row, so that its values go into Metadata. */
const fileBytesMax = 64 * 1024 * 1024

/** The header row that a file gets, in place of its first bytes. */
interface GrownHeader {
  readonly header: Header
  readonly line: Buffer
  /** How many bytes the line replaces. */
  readonly replaced: number
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
