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

function quoted(cell: string): string {
  return /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
