import { columns } from '../../signup/row.ts'
import { arrange } from '../header.ts'
import { cellKey, cellsOf, delimiters } from './csv.ts'
import type { HeaderRow } from './header-row.ts'

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const tabIndex = columns.indexOf('Sheet Tab')
const cellsFromTimestampToTab = tabIndex - columns.indexOf('Timestamp')

/** How many rows there are of each identity; of those that are not named, none. */
export type Counts = Readonly<Record<string, number>>

/**
 * Counts the rows that could be ours, all of one tab, in a file that a person may have changed:
 * sorted, edited, saved with other delimiters or quotes. A row is known by its address, the timestamp
 * right after it, and its last cell, the tab's name, so that one which a crash cut short does not count.
 * Under a header row of somebody's own it is known by the cells under the names of these.
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
 * Those of our rows that are not in a file, by what was counted in it now and before any of ours was
 * written. Two rows that agree in all that they are known by must have come twice.
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

/** The timestamp of a row that was written with this delimiter; undefined when it has none. */
export function timestampIn(line: string, delimiter: string): string | undefined {
  return cellsOf(line, delimiter).find((cell) => timestamp.test(cell))
}

/** What a row is known by, from its cells; undefined for a row that cannot be ours. */
type Identify = (cells: readonly string[]) => string | undefined

function identifier(ours: readonly string[][], { header }: HeaderRow): Identify {
  if (header.kind === 'named') return (cells) => identityUnder(header.at, cells)
  const tab = cellKey(ours[0]?.[tabIndex] ?? '')
  return (cells) => identityOf(cells, tab)
}

function ourIdentity(row: readonly string[], { header }: HeaderRow, identify: Identify): string {
  return identify(arrange(row, header)) ?? ''
}

/** The last cell of ours is in it, which a crash would have cut off. */
function identityUnder(at: readonly number[], cells: readonly string[]): string | undefined {
  const [email = -1, time = -1] = at
  const last = Math.max(...at)
  if (cells.length <= last) return undefined
  const moment = time >= 0 ? time : (at[columns.indexOf('Metadata')] ?? -1)
  return [email, moment, last].map((index) => cellKey(cells[index] ?? '')).join('\n')
}

function identityOf(cells: readonly string[], tab: string): string | undefined {
  const at = cells.findIndex((cell) => timestamp.test(cell))
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
