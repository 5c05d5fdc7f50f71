import { type Cell, columns } from '../../signup/row.ts'
import { type Counts, countRows, type OwnHeaderRow, timestampIn } from './missing-rows.ts'

/** How much of a file's end is read first; each further read is `growth` times as long. */
const bytesAtFirst = 4 * 1024
const growth = 32

/** The rows of one moment take less: they come from one bulk request and few others. */
const bytesMax = 4 * 1024 * 1024

/**
 * Counts the rows of earlier batches that look like ours because they have the same timestamp. They
 * are at the end of the file, so it is read backwards to a row older than all of ours, which is mostly
 * its last line, and never further than `bytesMax`.
 *
 * @param read reads bytes of the file from a position
 */
export async function countEarlierRows(
  ours: readonly (readonly Cell[])[],
  file: OwnHeaderRow & { readonly sizeBefore: number },
  read: (position: number, length: number) => Promise<Buffer>,
): Promise<Counts> {
  const { sizeBefore, delimiter } = file
  const earliest = ours.map((row) => String(row[columns.indexOf('Timestamp')] ?? '')).sort()[0]
  if (earliest === undefined) return {}
  const isOlder = (line: string) => (timestampIn(line, delimiter) ?? earliest) < earliest

  for (let length = bytesAtFirst; ; length *= growth) {
    const start = Math.max(0, sizeBefore - length)
    const lines = (await read(start, sizeBefore - start)).toString('utf8').split(/\r\n?|\n/)
    if (start > 0) lines.shift() // The first line may be incomplete.
    if (lines.some(isOlder) || start === 0 || length >= bytesMax) {
      return countRows(ours, lines, file)
    }
  }
}
