import type { Cell, OwnColumn } from '../../signup/row.ts'
import { cellKey, shownCell } from '../csv.ts'
import { arrange } from '../header.ts'
import { rowKey } from '../row-key.ts'
import type { RowKey } from '../spreadsheet.ts'
import type { HeaderRow } from './header-row.ts'
import type { Addition } from './record.ts'
import { readRow } from './row-reader.ts'

/** How many rows of a file are as one of ours, by what ours is known by. */
export type Counts = Addition['earlier']

/** The columns of a file, and the site's own ones of our rows. */
interface Columns extends HeaderRow {
  readonly own: readonly OwnColumn[]
}

/**
 * Counts our rows among the records of a file, which a person may have sorted, edited, or saved with other
 * delimiters. A row that a crash cut short does not have our last cell, and does not count.
 */
export async function countRows(
  ours: readonly (readonly Cell[])[],
  columns: Columns,
  records: AsyncIterable<string> | Iterable<string>,
): Promise<Counts> {
  const byKey = Map.groupBy(
    ours.map((row) => knownBy(row, columns)),
    ({ key }) => key,
  )
  const counts: Record<string, number> = {}
  for await (const record of records) {
    const { cells, key } = readRow(record, columns)
    const same = byKey.get(textOf(key)) ?? []
    const whole = same.filter(({ last, text }) => cellKey(cells[last] ?? '') === text)
    for (const id of new Set(whole.map(({ id }) => id))) counts[id] = (counts[id] ?? 0) + 1
  }
  return counts
}

/** Our rows that a file lacks, by the counts now and those before any of ours was written. */
export function missingRows<T extends readonly Cell[]>(
  ours: readonly T[],
  columns: Columns,
  { now, before }: { readonly now: Counts; readonly before: Counts },
): T[] {
  const left = new Map<string, number>()
  return ours.filter((row) => {
    const { id } = knownBy(row, columns)
    const count = left.get(id) ?? (now[id] ?? 0) - (before[id] ?? 0)
    left.set(id, count - 1)
    return count <= 0
  })
}

/** What a row of ours is known by: its key, and its last cell that is not empty. */
function knownBy(row: readonly Cell[], { header, own }: Columns) {
  const cells = arrange(row, header, own).map(shownCell)
  const key = textOf(rowKey(cells, header))
  const last = cells.findLastIndex((cell) => cell !== '')
  const text = cellKey(cells[last] ?? '')
  return { key, last, text, id: `${key}\n${text}` }
}

function textOf(key: RowKey | undefined): string {
  return key === undefined ? '' : `${cellKey(key.email)}\n${key.at}`
}
