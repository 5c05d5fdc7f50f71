import { remember } from '../platform/remember.ts'
import type { Cell } from '../signup/row.ts'

/** The delimiters that spreadsheet programs put between cells of a CSV file. */
export const delimiters = [',', ';', '\t'] as const

/** The signs that begin a formula in spreadsheet programs, some of them also in full width. */
const signs = '[=+\\-@＝＋－＠]'

/**
 * Whether this is a phone number, of at least seven digits, that no spreadsheet program computes. In
 * `+49 (30) 12345-6` numbers stand side by side, which is no formula. But `+1-2` is one, and a `/` may make
 * a fraction.
 */
function isPhone(cell: string): boolean {
  return (
    /^\+[\d ().-]{1,49}$/.test(cell) &&
    cell.replaceAll(/\D/g, '').length >= 7 &&
    (/^[+\d.]+$/.test(cell) || /\d *\(|\) *\d|\d +\d/.test(cell))
  )
}

/**
 * One record of a CSV file (RFC 4180), without its line end. A cell with any usual delimiter is quoted,
 * because spreadsheet programs guess the delimiter.
 *
 * A program that guesses wrong splits our cells, and quotes do not prevent that. So every formula sign
 * that could begin a cell gets an apostrophe in front: at the start of our cells and after any other
 * delimiter, even after spaces and quotes. A number is no formula, whatever its sign; nor are most phone
 * numbers. But one at the start of a line, or after a tab, could be read together with the cells behind it.
 */
export function csvRecord(cells: readonly Cell[], delimiter = ','): string {
  const formula = formulaIn(delimiter)
  return cells
    .map((cell, at) => {
      if (typeof cell !== 'string') return shownCell(cell)
      const staysPlain = at > 0 && delimiter !== '\t' && isPhone(cell)
      return staysPlain ? cell : quoted(cell.replace(formula, "'$&"))
    })
    .join(delimiter)
}

/** One record of cells that are known to be no formulas, without its line end. */
export function plainRecord(cells: readonly string[], delimiter: string): string {
  return cells.map(quoted).join(delimiter)
}

/** The text of a cell as spreadsheet programs show it. */
export function shownCell(cell: Cell): string {
  return typeof cell === 'boolean' ? String(cell).toUpperCase() : String(cell)
}

/** The cell that `csvRecord` has written under this delimiter: takes its apostrophes off again. */
export function readCell(cell: string, delimiter = ','): string {
  return cell.includes("'") ? cell.replace(formulaIn(delimiter), (it) => it.replace("'", '')) : cell
}

/** Matches what gets an apostrophe in front: a formula sign, with the apostrophes that it had before. */
const formulaIn = remember(10, (delimiter) => {
  const others = delimiters.filter((other) => other !== delimiter).join('')
  return new RegExp(`(?<=(?:^|[${others}\\r\\n])[\\s"]*)'*${signs}`, 'g')
})

/** The text of a cell for comparison: the same before and after `csvRecord`, for any delimiter. */
export function cellKey(cell: string): string {
  return cell.replace(apostrophes, '')
}

// A run of apostrophes is tried from its begin only, so that the time stays linear.
const apostrophes = new RegExp(`(?<!')'+(?=${signs})`, 'g')

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

/**
 * How a text of one or more lines ends: `whole`, or `in a cell` whose quote is not closed. `in doubt` is one of
 * several lines with a quote that begins no cell, so that they may be records of their own.
 */
export function recordEnd(text: string, delimiter: string): 'whole' | 'in a cell' | 'in doubt' {
  const line = withoutLineEnd(text)
  let isInDoubt = false
  for (let start = 0; ;) {
    let next = line.indexOf(delimiter, start)
    if (line[start] === '"') {
      const close = closingQuote(line, start)
      if (close < 0) return 'in a cell'
      const isQuoted = [delimiter, undefined].includes(line[close + 1])
      if (isQuoted) next = line.indexOf(delimiter, close)
      else isInDoubt ||= /[\r\n]/.test(line)
    }
    if (next < 0) return isInDoubt ? 'in doubt' : 'whole'
    start = next + 1
  }
}

export function withoutLineEnd(text: string): string {
  const end = ['\r\n', '\n', '\r'].find((one) => text.endsWith(one)) ?? ''
  return text.slice(0, text.length - end.length)
}

/** The index of the quote that closes the one at `start`; -1 when none opens or none closes. */
function closingQuote(line: string, start: number): number {
  if (line[start] !== '"') return -1
  let close = line.indexOf('"', start + 1)
  while (close > 0 && line[close + 1] === '"') close = line.indexOf('"', close + 2)
  return close
}

function quoted(cell: string): string {
  return /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
