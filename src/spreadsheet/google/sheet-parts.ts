import { letters, perCall, quoted } from './ranges.ts'
import { readSheets, type Sheet, sheetFields } from './sheets.ts'
import { isTooLarge, type SheetsApi } from './sheets-api.ts'

/** Reads what is known of each sheet, without its cells, with one call. @throws ReadFailed */
export async function listSheets(api: SheetsApi, signal: AbortSignal): Promise<readonly Sheet[]> {
  return readSheets(await api.read(`sheets(${sheetFields})`, signal))
}

/** Rows of a sheet that are still to be read. All numbers count from 0. */
export interface Part {
  readonly sheet: Sheet
  /** The next row. */
  readonly row: number
  /** The first and the last column to read. */
  readonly from: number
  readonly to: number
  /** How many such rows fit into one answer. */
  readonly rowsMax: number
}

/** How many rows of a part one call reads. */
export function rowsIn({ sheet, row, rowsMax }: Part): number {
  return Math.min(sheet.rowCount - row, rowsMax)
}

export function rangeOf(part: Part): string {
  const { sheet, row, from, to } = part
  return `${quoted(sheet)}!${letters(from)}${row + 1}:${letters(to)}${row + rowsIn(part)}`
}

/**
 * Reads the first of these parts, as many as fit into one answer and one call: a part behind another one
 * only as a whole. Reads less when the answer is too large. Returns what was read with the answer.
 *
 * @param rangesOf what `ask` requests for a part
 * @throws what `ask` throws
 */
export async function readFirstOf<P extends Part, T>(
  parts: readonly P[],
  rangesOf: (part: P) => readonly string[],
  ask: (ranges: readonly string[]) => Promise<T>,
): Promise<{ readonly read: readonly P[]; readonly answer: T }> {
  for (let left = parts; ;) {
    const [read = []] = perCall(fitting(left), rangesOf)
    try {
      return { read, answer: await ask(read.flatMap(rangesOf)) }
    } catch (error) {
      const isOneRow = read.length === 1 && read.every((part) => rowsIn(part) === 1)
      if (isOneRow || !isTooLarge(error)) throw error
      left = halved(read)
    }
  }
}

/** The first parts that fit into one answer together; at least one. */
function fitting<P extends Part>(parts: readonly P[]): readonly P[] {
  let filled = 0
  const count = parts.findIndex((part, index) => {
    filled += rowsIn(part) / part.rowsMax
    return index > 0 && filled > 1
  })
  return count === -1 ? parts : parts.slice(0, count)
}

/** The same parts, of which half as much fits into an answer as these have together. */
function halved<P extends Part>(parts: readonly P[]): readonly P[] {
  return parts.map((part) => {
    const half = Math.floor((rowsIn(part) * parts.length) / 2)
    return { ...part, rowsMax: Math.max(1, Math.min(part.rowsMax, half)) }
  })
}
