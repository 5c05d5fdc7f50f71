import { columns } from '../../signup/row.ts'
import type { HeaderRow } from './header-row.ts'
import { type Counts, countRows, timestampIn } from './missing-rows.ts'

/** How much of a file's end is looked at: so much at first, then so many times as much. */
const bytesAtFirst = 4 * 1024
const growth = 32

/** What is of one moment takes less: it came by one bulk request, and a bit beside it. */
const bytesMax = 4 * 1024 * 1024

/**
 * Counts the rows of earlier batches that could be taken for rows of ours, for they are of the same
 * moment. They are at the end of the file: it is read back to a row that is older than all of ours,
 * which mostly is its last line, and never further than `bytesMax`.
 *
 * @param read some bytes of the file, from a position on
 */
export async function countEarlierRows(
  ours: readonly string[][],
  file: HeaderRow & { readonly sizeBefore: number },
  read: (position: number, length: number) => Promise<Buffer>,
): Promise<Counts> {
  const { sizeBefore, delimiter } = file
  const earliest = ours.map((row) => row[columns.indexOf('Timestamp')] ?? '').sort()[0]
  if (earliest === undefined) return {}
  const isOlder = (line: string) => (timestampIn(line, delimiter) ?? earliest) < earliest

  for (let length = bytesAtFirst; ; length *= growth) {
    const start = Math.max(0, sizeBefore - length)
    const lines = (await read(start, sizeBefore - start)).toString('utf8').split(/\r\n?|\n/)
    if (start > 0) lines.shift() // Most of it may be further up.
    const older = lines.findLastIndex(isOlder)
    if (older >= 0 || start === 0 || length >= bytesMax) {
      return countRows(ours, lines.slice(older + 1), file)
    }
  }
}
