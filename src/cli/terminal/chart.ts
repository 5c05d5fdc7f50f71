export interface Bar {
  /** At most two characters. */
  readonly label: string
  /** Not negative. */
  readonly value: number
}

/**
 * Draws upright bars, each two characters wide, with the largest value at the left of the top line. A
 * value above 0 shows at least one mark. Returns `height` lines, a base line and the labels.
 */
export function chart(bars: readonly Bar[], height: number): string[] {
  const max = Math.max(1, ...bars.map(({ value }) => value))
  const scale = max.toLocaleString('en-US', { notation: max < 10_000 ? 'standard' : 'compact' })
  const line = (left: string, mark: string, cells: readonly string[]) =>
    `${left.padStart(scale.length)} ${mark}${cells.map((cell) => ` ${cell.padEnd(2)}`).join('')}`.trimEnd()
  const rows = Array.from({ length: height }, (_, row) => {
    const level = height - row
    const cells = bars.map(({ value }) => (Math.ceil((value / max) * height) >= level ? '##' : ''))
    return line(row === 0 ? scale : '', '|', cells)
  })
  const base = `${'0'.padStart(scale.length)} +${'-'.repeat(bars.length * 3)}`
  const labels = bars.map(({ label }) => label)
  return [...rows, base, line('', ' ', labels)]
}
