import { columns } from '../../signup/row.ts'
import { textCell } from './csv.ts'

/** What spreadsheet programs put between cells when they save a CSV file again. */
const delimiters = [',', ';', '\t'].map(
  (mark) => new RegExp(`(?:"((?:[^"]|"")*)"|([^${mark}]*))(?:${mark}|$)`, 'gy'),
)

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const tabIndex = columns.indexOf('Sheet Tab')
const cellsFromTimestampToTab = tabIndex - columns.indexOf('Timestamp')

/**
 * Those of our rows, all of one tab, that are not in a file that a person has changed since: sorted,
 * edited, saved with other delimiters or quotes. A row is known by its address, the timestamp right
 * after it, and its last cell, the tab's name, so that one which a crash cut short does not count.
 * Two rows that agree in all three must be there twice.
 */
export async function missingRows(
  ours: readonly string[][],
  theirLines: AsyncIterable<string>,
): Promise<string[][]> {
  const tab = textCell(ours[0]?.[tabIndex] ?? '')
  const identities = ours.map((row) => identityOf(row.map(textCell), tab) ?? '')
  const counts = new Map(identities.map((identity) => [identity, 0]))
  for await (const line of theirLines) {
    const identity = firstOf(delimiters, (delimiter) => identityOf(cellsOf(line, delimiter), tab))
    const count = counts.get(identity ?? '')
    if (identity !== undefined && count !== undefined) counts.set(identity, count + 1)
  }
  return ours.filter((_, index) => {
    const identity = identities[index] ?? ''
    const count = counts.get(identity) ?? 0
    counts.set(identity, count - 1)
    return count <= 0
  })
}

function identityOf(cells: readonly string[], tab: string): string | undefined {
  const at = cells.findIndex((cell) => timestamp.test(cell))
  const isWhole = cells.includes(tab, at + cellsFromTimestampToTab)
  return at > 0 && isWhole ? `${cells[at - 1]}\n${cells[at]}` : undefined
}

function cellsOf(line: string, delimiter: RegExp): string[] {
  return Array.from(line.replace(/^\uFEFF/, '').matchAll(delimiter), ([, quoted, bare]) =>
    quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"'),
  )
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
