import { finished } from 'node:stream/promises'
import { type Options, parse } from 'csv-parse'
import { isRecord, parseJson } from '../../signup/json.ts'
import { cellsOf, delimiters, readCell } from '../../spreadsheet/csv.ts'
import {
  type FileColumn,
  type FileRecord,
  type ImportFile,
  lettersOf,
  rejectedColumns,
  UnreadableFile,
} from './file-record.ts'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { codeOf } from '../../platform/node/durable-file.ts'
import { fileProblem } from '../../platform/node/unusable-file.ts'
import { UsageError } from '../session.ts'

/** The most bytes of one record: far more than all fields of a signup can have. */
export const recordBytesMax = 1024 * 1024

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
  const records = parseRecords(chunks, {
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
  })
  const first = await records.next()
  if (first.done === true) throw new UnreadableFile('The file is empty.')
  const names = first.value.cells.map(columnName)
  const columns = withKeys(names)
  const read = (raw: readonly string[]) => {
    const texts = raw.map(fromBytes)
    const cells = texts.map((text, at) => readCell(text ?? raw[at] ?? '', delimiter))
    return { cells, values: valuesOf(texts, cells, columns) }
  }
  return { columns, cellNames: names, records: toRecords(records, 2, read) }
}

/** Reads NDJSON: one JSON object a line. */
export function readNdjson(chunks: AsyncIterable<Buffer>): ImportFile {
  // JSON has no such delimiter, so that a line is one cell.
  const delimiter = '\0'
  const records = parseRecords(chunks, { delimiter, record_delimiter: '\n', quote: false })
  const read = (raw: readonly string[]) => {
    const line = raw.join(delimiter)
    const text = fromBytes(line)
    return { cells: [text ?? line], values: text === undefined ? notUtf8 : membersOf(text) }
  }
  return { columns: undefined, cellNames: ['Line'], records: toRecords(records, 1, read) }
}

async function* toRecords(
  records: AsyncIterable<RawRecord>,
  firstRow: number,
  read: (raw: readonly string[]) => Pick<FileRecord, 'cells' | 'values'>,
): AsyncGenerator<FileRecord> {
  let row = firstRow
  for await (const { cells, end } of records) {
    if (cells.some((cell) => cell.trim() !== '')) yield { row, end, ...read(cells) }
    row += 1
  }
}

function membersOf(line: string): FileRecord['values'] {
  const parsed = parseJson(line)
  if ('problem' in parsed) return `The line ${parsed.problem}.`
  if (!isRecord(parsed.value))
    return 'The line must be a JSON object, such as {"email":"name@example.com"}.'
  // A new id is made for each signup.
  return Object.entries(parsed.value).filter(([name]) => name !== 'id')
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

/** The first column of a name keeps it. Those of an earlier file of rejected rows are left out anyway. */
function withKeys(names: readonly string[]): readonly FileColumn[] {
  const left = new Set(names)
  return names.map((name, at) => {
    const isKept = left.delete(name) || rejectedColumns.includes(name)
    return { name, key: isKept ? name : `${name} (column ${lettersOf(at)})` }
  })
}

/** The delimiter that splits the first line into most cells; a comma when none does. */
function delimiterOf(head: Buffer): string {
  const [line = ''] = head.toString('latin1').split(/[\r\n]/, 1)
  const counts = delimiters.map((delimiter) => cellsOf(line, delimiter).length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Parses chunk by chunk, so that no more than a chunk and one record are in memory. */
async function* parseRecords(
  chunks: AsyncIterable<Buffer>,
  options: Options,
): AsyncGenerator<RawRecord> {
  const found: RawRecord[] = []
  let rows = 0
  let read = 0
  let end = 0
  const parser = parse({
    ...options,
    encoding: 'latin1',
    relax_column_count: true,
    on_record(cells: string[], { bytes }) {
      end = bytes
      rows += 1
      found.push({ cells, end })
      return null
    },
  }).resume()
  const parsed = finished(parser).catch((cause: unknown) => {
    // The parser's own message may quote a cell.
    throw new UnreadableFile(endless(rows + 1), { cause })
  })
  parsed.catch(() => {})
  for await (const chunk of chunks) {
    parser.write(chunk)
    read += chunk.length
    yield* found.splice(0)
    if (read - end > recordBytesMax) throw new UnreadableFile(endless(rows + 1))
  }
  parser.end()
  await parsed
  yield* found
}

function endless(row: number): string {
  return (
    `Row ${row} does not end: it has more than ${recordBytesMax / 1024} KiB, or in CSV a quote that ` +
    'nothing closes. Correct it, and import the file again.'
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const notUtf8 = 'It has characters that are not UTF-8: save the file as "CSV UTF-8".'

/** A text of which each character stands for a byte, read as UTF-8; undefined when it is not UTF-8. */
function fromBytes(text: string): string | undefined {
  if (!/\P{ASCII}/u.test(text)) return text
  try {
    return utf8.decode(Buffer.from(text, 'latin1'))
  } catch {
    return undefined
  }
}

const headBytes = 64 * 1024

interface OpenFile extends AsyncDisposable {
  readonly bytes: number
  readonly file: ImportFile
}

/** Opens a file to import. @throws UsageError when nothing of it can be imported */
export async function openImportFile(path: string): Promise<OpenFile> {
  await using opening = new AsyncDisposableStack()
  const handle = opening.use(await openRegular(path))
  const { size: bytes } = await handle.stat()
  const head = Buffer.alloc(Math.min(bytes, headBytes))
  await handle.read(head, 0, head.length, 0)
  const start = head.subarray(0, 3).equals(byteOrderMark) ? byteOrderMark.length : 0
  const text = head.subarray(start)
  assertText(text)
  const chunks: AsyncIterable<Buffer> = handle.createReadStream({ start, autoClose: false })
  const isNdjson = text.toString('latin1').trimStart().startsWith('{')
  const file = isNdjson ? readNdjson(chunks) : await readCsv(chunks, text).catch(asUsage)
  const open = opening.move()
  return { bytes, file, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

/** A file that nothing can be read of is a wrong argument. */
function asUsage(error: unknown): never {
  if (!(error instanceof UnreadableFile)) throw error
  throw new UsageError(error.message, { cause: error })
}

const byteOrderMark = Buffer.from('\uFEFF')

async function openRegular(path: string): Promise<FileHandle> {
  try {
    // Opening a pipe would otherwise wait for somebody who writes into it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    const words = reasons[codeOf(cause) ?? ''] ?? `${fileProblem(cause)}. Check the disk.`
    throw new UsageError(`${path} cannot be read: ${words}`, { cause })
  }
  throw new UsageError(`${path} is not a file. Give a CSV or NDJSON file.`)
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file. Check its name.',
  ENOTDIR: 'there is no such file. Check its name.',
  EACCES: 'permission denied. Run the command as a user who may read it.',
}

/** Refuses what is no text in UTF-8 or in an encoding that is compatible with ASCII. */
function assertText(head: Buffer): void {
  const text = head.toString('latin1')
  if (text.startsWith('PK\u0003\u0004'))
    throw new UsageError(
      'The file is a workbook or an archive. Open it in its program, and save it as "CSV UTF-8".',
    )
  // In UTF-16, ASCII characters have a zero byte before or behind them.
  if (text.startsWith('\xff\xfe') || text.startsWith('\xfe\xff') || text.includes('\0'))
    throw new UsageError(
      'The file is in UTF-16, or is no text. Open it in its program, and save it as "CSV UTF-8".',
    )
  if (text.trimStart().startsWith('['))
    throw new UsageError('The file is a JSON list. Write one JSON object a line (NDJSON).')
}
