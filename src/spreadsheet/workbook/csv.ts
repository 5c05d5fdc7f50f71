/** What spreadsheet programs put between cells when they save a CSV file. */
export const delimiters = [',', ';', '\t'] as const

/** What a spreadsheet program takes for a formula at the start of a cell; some also in full width. */
const signs = '[=+\\-@＝＋－＠]'

/**
 * One record of a CSV file (RFC 4180), without its line end. Quotes what holds any usual delimiter,
 * for spreadsheet programs guess which one is in use.
 *
 * A program that guesses wrong finds cells where we wrote none, and quotes do not keep it from that.
 * So the signs of a formula get an apostrophe in front wherever a cell could begin with them, be it
 * behind spaces and quotes: at the start of ours, and after any delimiter but the file's own.
 */
export function csvRecord(cells: readonly string[], delimiter = ','): string {
  const others = delimiters.filter((other) => other !== delimiter).join('')
  const formula = new RegExp(`(?<=(?:^|[${others}\\r\\n])[\\s"]*)${signs}`, 'g')
  return cells.map((cell) => quoted(cell.replace(formula, "'$&"))).join(delimiter)
}

/** The same for a cell before and after `csvRecord`, whatever the delimiter was: for comparison. */
export function cellKey(cell: string): string {
  return cell.replace(apostrophes, '')
}

const apostrophes = new RegExp(`'(?=${signs})`, 'g')

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
