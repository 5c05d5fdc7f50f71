import type { Sheet } from './sheets.ts'

/** The quoted title. Without quotes, Google would read a tab named A1 or D9037 as a cell. */
export function quoted({ title }: Pick<Sheet, 'title'>): string {
  return `'${title.replaceAll("'", "''")}'`
}

/** The letters of a column, from 0: A, Z, AA. */
export function letters(column: number): string {
  const rest = Math.floor(column / 26)
  return (rest > 0 ? letters(rest - 1) : '') + String.fromCharCode(65 + (column % 26))
}
