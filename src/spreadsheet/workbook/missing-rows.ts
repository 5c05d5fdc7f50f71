import { type Cell, columns, noColumns, type OwnColumn } from '../../signup/row.ts'
import { arrange } from '../header.ts'
import { cellKey, cellsOf, delimiters, shownCell } from '../csv.ts'
import { isTimestamp } from '../row-key.ts'
import type { HeaderRow } from './header-row.ts'

const tabIndex = columns.indexOf('Sheet Tab')
const timestampIndex = columns.indexOf('Timestamp')

/** A line for each character that all fields of a signup may have together. */
const recordLinesMax = 20_000

/** How much of a file's end is read first; each further read is `growth` times as long. */
const bytesAtFirst = 4 * 1024
const growth = 32

/** The rows of one moment take less: they come from one bulk request and few others. */
const bytesMax = 4 * 1024 * 1024

/** A header row, and the site's own columns of our rows. */
export interface OwnHeaderRow extends HeaderRow {
  readonly own?: readonly OwnColumn[]
}

/** The number of rows with each identity. An identity that is missing here has none. */
export type Counts = Readonly<Record<string, number>>

/**
 * Counts the rows that could be ours in the file of one tab, which a person may have sorted, edited, or
 * saved with other delimiters or quotes. A row's identity is its address, the timestamp right after it,
 * and the tab's name. It has all cells of ours, so that one that a crash cut short does not count. Under somebody's
 * own header row, the identity is the cells in the columns of these names.
 */
export async function countRows(
  ours: readonly (readonly Cell[])[],
  theirLines: AsyncIterable<string> | Iterable<string>,
  headerRow: OwnHeaderRow,
): Promise<Counts> {
  const identify = identifier(ours, headerRow)
  const marks = headerRow.header.kind === 'named' ? [headerRow.delimiter] : delimiters
  const counts = new Map(ours.map((row) => [ourIdentity(row, headerRow, identify), 0]))
  const isOurs = (record: string) => {
    const read = marks.values().map((mark) => identify(cellsOf(record, mark)))
    const identity = read.find((one) => one !== undefined) ?? ''
    const count = counts.get(identity)
    if (count !== undefined) counts.set(identity, count + 1)
    return count !== undefined
  }
  /** The lines of a cell with line breaks, up to the line that closes its quote; empty outside of one. */
  let open: string[] = []
  let hasOwnLine = false
  for await (const line of theirLines) {
    const turns = (line.match(/"/g)?.length ?? 0) % 2 === 1
    hasOwnLine = isOurs(line) || (open.length > 0 && hasOwnLine)
    if (turns || open.length > 0) open.push(line)
    if ((!turns || open.length === 1) && open.length < recordLinesMax) continue
    // A quote that a person has left alone makes no record of the rows behind it.
    if (!hasOwnLine) isOurs(open.join('\n'))
    open = []
  }
  return Object.fromEntries([...counts].filter(([, count]) => count > 0))
}

/**
 * Our rows that are missing in a file, given the counts now and before any of ours was written. If two
 * of our rows share an identity, the file must contain it twice.
 */
export function missingRows<T extends Cell>(
  ours: readonly T[][],
  now: Counts,
  before: Counts,
  headerRow: OwnHeaderRow,
): T[][] {
  const identify = identifier(ours, headerRow)
  const found = new Map<string, number>()
  return ours.filter((row) => {
    const identity = ourIdentity(row, headerRow, identify)
    const count = found.get(identity) ?? (now[identity] ?? 0) - (before[identity] ?? 0)
    found.set(identity, count - 1)
    return count <= 0
  })
}

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
  const earliest = ours.map((row) => String(row[timestampIndex] ?? '')).sort()[0]
  if (earliest === undefined) return {}
  const isOlder = (line: string) =>
    (cellsOf(line, delimiter).find(isTimestamp) ?? earliest) < earliest

  for (let length = bytesAtFirst; ; length *= growth) {
    const start = Math.max(0, sizeBefore - length)
    const lines = (await read(start, sizeBefore - start)).toString('utf8').split(/\r\n?|\n/)
    if (start > 0) lines.shift() // The first line may be incomplete.
    if (lines.some(isOlder) || start === 0 || length >= bytesMax) {
      return countRows(ours, lines, file)
    }
  }
}

/** Makes the identity of a row from its cells; undefined for a row that cannot be ours. */
type Identify = (cells: readonly string[]) => string | undefined

function identifier(ours: readonly (readonly Cell[])[], { header }: OwnHeaderRow): Identify {
  if (header.kind === 'named') return (cells) => identityUnder(header.at, cells)
  const tab = cellKey(String(ours[0]?.[tabIndex] ?? ''))
  const width = Math.max(...header.at) + 1
  return (cells) => identityOf(cells, tab, width)
}

function ourIdentity(
  row: readonly Cell[],
  { header, own = noColumns }: OwnHeaderRow,
  identify: Identify,
): string {
  return identify(arrange(row, header, own).map(shownCell)) ?? ''
}

/** The identity under somebody's own header. It includes our last cell, which a crash would have cut off. */
function identityUnder(at: readonly number[], cells: readonly string[]): string | undefined {
  const [email = -1, time = -1] = at
  const last = Math.max(...at)
  if (cells.length <= last) return undefined
  const moment = time >= 0 ? time : (at[columns.indexOf('Metadata')] ?? -1)
  return [email, moment, last].map((index) => cellKey(cells[index] ?? '')).join('\n')
}

function identityOf(cells: readonly string[], tab: string, width: number): string | undefined {
  const at = cells.findIndex(isTimestamp)
  if (at < 1 || cells.length < at - 1 + width) return undefined
  const isWhole = cells.slice(at + tabIndex - timestampIndex).some((cell) => cellKey(cell) === tab)
  return isWhole ? `${cellKey(cells[at - 1] ?? '')}\n${cells[at]}` : undefined
}
