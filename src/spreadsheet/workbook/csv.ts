/**
 * One record of a CSV file (RFC 4180), without its line end. Quotes what holds any usual delimiter,
 * for spreadsheet programs guess which one is in use.
 */
export function csvRecord(cells: readonly string[], delimiter = ','): string {
  return cells.map((cell) => quoted(textCell(cell))).join(delimiter)
}

/** The cell, with an apostrophe in front when a spreadsheet program would take it for a formula. */
export function textCell(cell: string): string {
  return cell.replace(/^[=+\-@]/, "'$&")
}

/** The cells of one line, without its line end. A quote that is not closed is part of its cell. */
export function cellsOf(line: string, delimiter: string): string[] {
  const cells: string[] = []
  let start = line.startsWith('\uFEFF') ? 1 : 0
  while (start <= line.length) {
    const close = closingQuote(line, start)
    const isQuoted = close > 0 && [delimiter, undefined].includes(line[close + 1])
    const next = isQuoted ? close + 1 : line.indexOf(delimiter, start)
    const end = next < 0 ? line.length : next
    cells.push(
      isQuoted ? line.slice(start + 1, close).replaceAll('""', '"') : line.slice(start, end),
    )
    start = end + 1
  }
  return cells
}

/** Where the quotes are closed that are opened at `start`; -1 when none are, or never. */
function closingQuote(line: string, start: number): number {
  if (line[start] !== '"') return -1
  let close = line.indexOf('"', start + 1)
  while (close > 0 && line[close + 1] === '"') close = line.indexOf('"', close + 2)
  return close
}

function quoted(cell: string): string {
  return /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
