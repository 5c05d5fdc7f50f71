import type { Sheet } from './sheets.ts'

/** Bounds of a request: columns and tables beyond them are ignored. */
const lastColumn = 'ZZ'
const tablesMax = 4

/** Sheets per call. The ranges are in the URL, and some servers limit a URL to 8,000 characters. */
const sheetsPerCall = 20
const rangesCharactersMax = 4000

/** The quoted title. Without quotes, Google would read a tab named A1 or D9037 as a cell. */
export function quoted({ title }: Pick<Sheet, 'title'>): string {
  return `'${title.replaceAll("'", "''")}'`
}

/** The letters of a column, from 0: A, Z, AA. */
export function letters(column: number): string {
  const rest = Math.floor(column / 26)
  return (rest > 0 ? letters(rest - 1) : '') + String.fromCharCode(65 + (column % 26))
}

/** The rows that name columns: the first row, and the first row of each table. */
export function headerRanges(sheet: Sheet): readonly string[] {
  const rows = new Set([0, ...sheet.tables.slice(0, tablesMax).map(({ row }) => row)])
  return [...rows].map((row) => `${quoted(sheet)}!A${row + 1}:${lastColumn}${row + 1}`)
}

/** The sheets in groups whose ranges fit into one call each. */
export function perCall<T>(sheets: readonly T[], rangesOf: (sheet: T) => readonly string[]): T[][] {
  const groups: T[][] = []
  let characters = Infinity
  for (const sheet of sheets) {
    const added = parameters(rangesOf(sheet)).length
    const group = groups.at(-1)
    if (group && group.length < sheetsPerCall && characters + added <= rangesCharactersMax) {
      group.push(sheet)
      characters += added
    } else {
      groups.push([sheet])
      characters = added
    }
  }
  return groups
}

/** Ranges in the query of a call, after other parameters. */
export function parameters(ranges: readonly string[]): string {
  return ranges.map((range) => `&ranges=${encodeURIComponent(range)}`).join('')
}
