import type { FileHandle } from 'node:fs/promises'
import { noColumns, type OwnColumn } from '../../signup/row.ts'
import { type Header, readHeader } from '../header.ts'
import { delimiters } from '../csv.ts'

export interface HeaderRow {
  readonly header: Header
  readonly delimiter: string
}

/** How many bytes are read for the header row. */
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
