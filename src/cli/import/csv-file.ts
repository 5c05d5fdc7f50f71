import { finished } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { cellsOf, delimiters, readCell } from '../../spreadsheet/csv.ts'
import {
  type FileColumn,
  type FileRecord,
  fromBytes,
  type ImportFile,
  lettersOf,
  notUtf8,
  recordBytesMax,
  rejectedColumns,
  UnreadableFile,
} from './file-record.ts'

/** The cells of a record as texts with a character for each byte, and where it ends. */
interface RawRecord {
  readonly cells: readonly string[]
  readonly end: number
}

/**
 * Reads CSV with a header row: RFC 4180, with commas, semicolons or tabs between the cells, and any line
 * ends. A quote within a cell without quotes is a part of the cell.
 *
 * @param head the beginning of the file
 */
export async function readCsv(chunks: AsyncIterable<Buffer>, head: Buffer): Promise<ImportFile> {
  const delimiter = delimiterOf(head)
  const records = parseCsv(chunks, delimiter)
  const first = await records.next()
  if (first.done === true) throw new UnreadableFile('The file is empty.')
  const names = first.value.cells.map((cell, at) => columnName(cell, at))
  const columns = withKeys(names)
  return {
    columns,
    cellNames: names,
    records: toRecords(records, columns, delimiter),
  }
}

async function* toRecords(
  records: AsyncIterable<RawRecord>,
  columns: readonly FileColumn[],
  delimiter: string,
): AsyncGenerator<FileRecord> {
  let row = 1
  for await (const { cells: raw, end } of records) {
    row += 1
    if (raw.every((cell) => cell.trim() === '')) continue
    const texts = raw.map(fromBytes)
    const cells = texts.map((text, at) => readCell(text ?? raw[at] ?? '', delimiter))
    yield { row, end, cells, values: valuesOf(texts, cells, columns) }
  }
}

function valuesOf(
  texts: readonly (string | undefined)[],
  cells: readonly string[],
  columns: readonly FileColumn[],
): FileRecord['values'] {
  if (texts.includes(undefined)) return notUtf8
  if (cells.slice(columns.length).some((cell) => cell.trim() !== ''))
    return 'It has more cells than the header row: put quotes around a cell with a delimiter in it.'
  return columns.map(({ key }, at) => [key, cells[at] ?? ''])
}

/** A column without a name gets the one that spreadsheet programs show. */
function columnName(cell: string, at: number): string {
  const name = fromBytes(cell)?.trim()
  if (name === undefined) throw new UnreadableFile(`The header row cannot be read. ${notUtf8}`)
  return name === '' ? `Column ${at + 1}` : readCell(name)
}

function withKeys(names: readonly string[]): readonly FileColumn[] {
  const left = new Set(names)
  const taken = new Set(names)
  return names.map((name, at) => {
    // The first column of a name keeps it. Those of an earlier file of rejected rows are left out anyway.
    if (left.delete(name) || rejectedColumns.includes(name)) return { name, key: name }
    let key = `${name} (column ${lettersOf(at)})`
    for (let number = 2; taken.has(key); number++)
      key = `${name} (column ${lettersOf(at)}, ${number})`
    taken.add(key)
    return { name, key }
  })
}

/** The delimiter that splits the first line into most cells; a comma when none does. */
function delimiterOf(head: Buffer): string {
  const [line = ''] = head.toString('latin1').split(/[\r\n]/, 1)
  const counts = delimiters.map((delimiter) => cellsOf(line, delimiter).length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Parses chunk by chunk, so that no more than a chunk and one record are in memory. */
async function* parseCsv(
  chunks: AsyncIterable<Buffer>,
  delimiter: string,
): AsyncGenerator<RawRecord> {
  const found: RawRecord[] = []
  let rows = 0
  let read = 0
  let end = 0
  const parser = parse({
    delimiter,
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    on_record(cells: string[], { bytes }) {
      end = bytes
      rows += 1
      found.push({ cells, end })
      return null
    },
  }).resume()
  const parsed = finished(parser).catch((cause: unknown) => {
    // The parser's own message may quote a cell.
    throw new UnreadableFile(openQuote(rows + 1), { cause })
  })
  parsed.catch(() => {})
  for await (const chunk of chunks) {
    parser.write(chunk)
    read += chunk.length
    yield* found.splice(0)
    if (read - end > recordBytesMax) throw new UnreadableFile(openQuote(rows + 1))
  }
  parser.end()
  await parsed
  yield* found
}

function openQuote(row: number): string {
  return (
    `Row ${row} does not end: it has a quote that nothing closes, or more than ` +
    `${recordBytesMax / 1024} KiB. Correct it, and import the file again.`
  )
}
