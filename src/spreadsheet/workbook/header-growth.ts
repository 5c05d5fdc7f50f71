import { lstat, readFile } from 'node:fs/promises'
import type { OwnColumn } from '../../signup/row.ts'
import type { DurableFiles } from '../../platform/node/durable-file.ts'
import { plainRecord } from '../csv.ts'
import { headBytesMax, readHeaderRow } from './header-row.ts'

/** A larger file keeps its header row, so that its values go into Metadata. */
const fileBytesMax = 64 * 1024 * 1024

/**
 * Adds the headings of the site's own columns that a tab's file lacks to the right of its header row, if
 * that has all of ours. The file is replaced as a whole, and not when somebody changes it meanwhile. To
 * run while no batch is pending, as a batch knows the sizes of its files.
 */
export async function growHeader(
  files: DurableFiles,
  path: string,
  own: readonly OwnColumn[],
): Promise<void> {
  if (own.length === 0) return
  const before = await stateOf(path)
  if (!before?.isFile() || before.size > fileBytesMax) return
  const content = await readFile(path)
  const head = content.toString('latin1', 0, headBytesMax)
  const { header, delimiter } = readHeaderRow(head, own, true)
  const end = endOfRecord(head)
  if (!header.added || end === undefined) return
  // Cells without a heading at the end make room for ours.
  const line = withoutEnd(head.slice(0, end), delimiter)
  const added = delimiter + plainRecord(header.added.headings, delimiter)
  const grown = line + Buffer.from(added).toString('latin1')
  const { at } = readHeaderRow(grown, own).header
  if (at.join() !== header.at.join()) return
  const text = Buffer.concat([Buffer.from(grown, 'latin1'), content.subarray(end)])
  const now = await stateOf(path)
  if (now?.mtimeMs !== before.mtimeMs || now.size !== before.size || now.ino !== before.ino) return
  await files.replace(path, text)
}

async function stateOf(path: string) {
  return lstat(path).catch(() => undefined)
}

/** Where the first record ends: before the first line end outside of quotes. */
function endOfRecord(head: string): number | undefined {
  let isQuoted = false
  for (let at = 0; at < head.length; at++) {
    if (head[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && (head[at] === '\r' || head[at] === '\n')) return at
  }
  return undefined
}

function withoutEnd(line: string, delimiter: string): string {
  let end = line.length
  for (;;) {
    const empty = [delimiter, `${delimiter}""`].find((cell) => line.endsWith(cell, end))
    if (empty === undefined) return line.slice(0, end)
    end -= empty.length
  }
}
