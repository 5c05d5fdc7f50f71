import { visible } from '../../platform/visible.ts'
import { digits } from '../../platform/digits.ts'

/**
 * Lines of cells in columns of equal width, two spaces apart. A cell stays in its line.
 *
 * @param right the columns that are aligned to the right, from 0: numbers
 */
export function table(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string[] {
  const widths: number[] = []
  const shown = rows.map((row) => row.map(visible))
  for (const row of shown) {
    row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)))
  }
  return shown.map((row) =>
    row
      .map((cell, at) => {
        const width = widths[at] ?? 0
        return right.includes(at) ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

export function countTable(facts: readonly (readonly [name: string, count: number])[]): string[] {
  return table(
    facts.map(([name, count]) => [name, digits(count)]),
    [1],
  )
}
