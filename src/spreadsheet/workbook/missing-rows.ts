import { columns } from '../../signup/row.ts'
import { arrange } from '../header.ts'
import { cellKey, cellsOf, delimiters } from '../csv.ts'
import { isTimestamp } from '../row-key.ts'
import type { HeaderRow } from './header-row.ts'

const tabIndex = columns.indexOf('Sheet Tab')
const cellsFromTimestampToTab = tabIndex - columns.indexOf('Timestamp')

/** The number of rows with each identity. An identity that is missing here has none. */
export type Counts = Readonly<Record<string, number>>

/**
 * Counts the rows that could be ours in the file of one tab, which a person may have sorted, edited, or
 * saved with other delimiters or quotes. A row's identity is its address, the timestamp right after it,
 * and its last cell, the tab's name; so a row that a crash cut short does not count. Under somebody's
 * own header row, the identity is the cells in the columns of these names.
 */
export async function countRows(
  ours: readonly string[][],
  theirLines: AsyncIterable<string> | Iterable<string>,
  headerRow: HeaderRow,
): Promise<Counts> {
  const identify = identifier(ours, headerRow)
  const marks = headerRow.header.kind === 'named' ? [headerRow.delimiter] : delimiters
  const counts = new Map(ours.map((row) => [ourIdentity(row, headerRow, identify), 0]))
  for await (const line of theirLines) {
    const identity = firstOf(marks, (mark) => identify(cellsOf(line, mark))) ?? ''
    const count = counts.get(identity)
    if (count !== undefined) counts.set(identity, count + 1)
  }
  return Object.fromEntries([...counts].filter(([, count]) => count > 0))
}

/**
 * Our rows that are missing in a file, given the counts now and before any of ours was written. If two
 * of our rows share an identity, the file must contain it twice.
 */
export function missingRows(
  ours: readonly string[][],
  now: Counts,
  before: Counts,
  headerRow: HeaderRow,
): string[][] {
  const identify = identifier(ours, headerRow)
  const found = new Map<string, number>()
  return ours.filter((row) => {
    const identity = ourIdentity(row, headerRow, identify)
    const count = found.get(identity) ?? (now[identity] ?? 0) - (before[identity] ?? 0)
    found.set(identity, count - 1)
    return count <= 0
  })
}

/** The timestamp in a row with this delimiter; undefined when there is none. */
export function timestampIn(line: string, delimiter: string): string | undefined {
  return cellsOf(line, delimiter).find(isTimestamp)
}

/** Makes the identity of a row from its cells; undefined for a row that cannot be ours. */
type Identify = (cells: readonly string[]) => string | undefined

function identifier(ours: readonly string[][], { header }: HeaderRow): Identify {
  if (header.kind === 'named') return (cells) => identityUnder(header.at, cells)
  const tab = cellKey(ours[0]?.[tabIndex] ?? '')
  return (cells) => identityOf(cells, tab)
}

function ourIdentity(row: readonly string[], { header }: HeaderRow, identify: Identify): string {
  return identify(arrange(row, header)) ?? ''
}

/** The identity under somebody's own header. It includes our last cell, which a crash would have cut off. */
function identityUnder(at: readonly number[], cells: readonly string[]): string | undefined {
  const [email = -1, time = -1] = at
  const last = Math.max(...at)
  if (cells.length <= last) return undefined
  const moment = time >= 0 ? time : (at[columns.indexOf('Metadata')] ?? -1)
  return [email, moment, last].map((index) => cellKey(cells[index] ?? '')).join('\n')
}

function identityOf(cells: readonly string[], tab: string): string | undefined {
  const at = cells.findIndex(isTimestamp)
  if (at < 1) return undefined
  const isWhole = cells.slice(at + cellsFromTimestampToTab).some((cell) => cellKey(cell) === tab)
  return isWhole ? `${cellKey(cells[at - 1] ?? '')}\n${cells[at]}` : undefined
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
