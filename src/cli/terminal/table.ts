export interface TableOptions {
  /** The columns that are aligned to the right, from 0: numbers. */
  readonly right?: readonly number[]
}

/** Lines of cells in columns of equal width, two spaces apart. For text without control characters. */
export function table(
  rows: readonly (readonly string[])[],
  { right = [] }: TableOptions = {},
): string[] {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)))
  }
  return rows.map((row) =>
    row
      .map((cell, at) => {
        const width = widths[at] ?? 0
        return right.includes(at) ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
}
