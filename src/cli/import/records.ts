import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { type Options, parse } from 'csv-parse'
import { codeOf } from '../../platform/node/durable-file.ts'
import { fileProblem } from '../../platform/node/unusable-file.ts'
import { isRecord, parseJson } from '../../signup/json.ts'
import { cellsOf, delimiters, readCell } from '../../spreadsheet/csv.ts'
import { UsageError } from '../session.ts'

/** One record of a file to import: a row of CSV, or a line of NDJSON. */
export interface FileRecord {
  /** Its row, as spreadsheet programs count, from 1: the header row and empty ones count. */
  readonly row: number
  /** The byte after it. */
  readonly end: number
  /** What the file of rejected rows shows of it, under `ImportFile.names`. */
  readonly cells: readonly string[]
  /** Columns with their values; or a text that says why it cannot be read. */
  readonly values: readonly (readonly [column: string, value: unknown])[] | string
}

/** A file whose first record is known. */
export interface ImportFile {
  /** Whether a header row names the columns. */
  readonly hasHeader: boolean
  readonly names: readonly string[]
  /** All records that are not empty. Fails with `UnreadableFile`. */
  readonly records: AsyncIterable<FileRecord>
}

/** The file cannot be imported from here on. The message says why, and what to do. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

/** The columns that a file of rejected rows has besides. They are not imported. */
export const rejectedColumns: readonly string[] = ['Rejected row', 'Rejected because']

/** The most bytes of one record: far more than all fields of a signup can have. */
export const recordBytesMax = 1024 * 1024

/** A record whose cells are texts with a character for each byte. */
type RawRecord = Omit<FileRecord, 'values'>

/** The kind of file, and the delimiter of CSV, are found here. */
const headBytes = 64 * 1024

const byteOrderMark = Buffer.from('\uFEFF')

/** Opens a file to import. @throws UsageError when nothing of it can be imported */
export async function openImportFile(
  path: string,
): Promise<ImportFile & AsyncDisposable & { readonly bytes: number }> {
  await using opening = new AsyncDisposableStack()
  const handle = opening.use(await openRegular(path))
  const { size: bytes } = await handle.stat()
  const head = Buffer.alloc(Math.min(bytes, headBytes))
  await handle.read(head, 0, head.length, 0)
  const start = head.subarray(0, 3).equals(byteOrderMark) ? byteOrderMark.length : 0
  const text = head.subarray(start)
  const beginning = text.toString('latin1')
  const problem = whyUnusable(beginning)
  if (problem !== undefined) throw new UsageError(problem)
  const chunks: AsyncIterable<Buffer> = handle.createReadStream({ start, autoClose: false })
  const isNdjson = beginning.trimStart().startsWith('{')
  const file = isNdjson ? readNdjson(chunks) : await readCsv(chunks, text)
  const open = opening.move()
  return { ...file, bytes, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

/** Why this is no text in UTF-8, or in an encoding that is compatible with ASCII, and what to do. */
function whyUnusable(text: string): string | undefined {
  const saveIt = 'Open it in its program, and save it as "CSV UTF-8".'
  if (text.startsWith('PK\u0003\u0004')) return `The file is a workbook or an archive. ${saveIt}`
  // In UTF-16, ASCII characters have a zero byte before or behind them.
  if (/^(\xff\xfe|\xfe\xff)/.test(text) || text.includes('\0'))
    return `The file is in UTF-16, or is no text. ${saveIt}`
  const isList = text.trimStart().startsWith('[')
  return isList ? 'The file is a JSON list. Write one JSON object a line (NDJSON).' : undefined
}

async function openRegular(path: string): Promise<FileHandle> {
  try {
    // Opening a pipe would otherwise wait for somebody who writes into it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'there is no such file' : fileProblem(cause)
    const todo = 'Check its name. Run the command as a user who may read it.'
    throw new UsageError(`${path} cannot be read: ${why}. ${todo}`, { cause })
  }
  throw new UsageError(`${path} is not a file. Give a CSV or NDJSON file.`)
}

/**
 * Reads CSV with a header row: RFC 4180, with commas, semicolons or tabs between the cells, and any line
 * ends. A quote within a cell without quotes is a part of the cell.
 *
 * @param head the beginning of the file
 */
export async function readCsv(chunks: AsyncIterable<Buffer>, head: Buffer): Promise<ImportFile> {
  const delimiter = delimiterOf(head)
  const record_delimiter = ['\r\n', '\n', '\r']
  const raw = parseRecords(chunks, { delimiter, record_delimiter, relax_quotes: true })
  const first = await raw.next()
  if (first.done === true) throw new UsageError('The file is empty.')
  const header = first.value.cells.map(columnName)
  const kept = header.flatMap((name, at) => (rejectedColumns.includes(name) ? [] : [at]))
  const pick = (cells: readonly string[]) => kept.map((at) => cells[at] ?? '')
  const names = pick(header)

  const read = ({ cells: bytes }: RawRecord): Pick<FileRecord, 'cells' | 'values'> => {
    const texts = bytes.map(fromBytes)
    const cells = pick(bytes.map((it, at) => readCell(texts[at] ?? it, delimiter)))
    if (texts.includes(undefined)) return { cells, values: notUtf8 }
    if (texts.slice(header.length).some((it) => it?.trim() !== ''))
      return { cells, values: tooManyCells }
    return { cells, values: names.map((name, at) => [name, cells[at] ?? '']) }
  }
  return { hasHeader: true, names, records: filled(raw, read) }
}

/** Reads NDJSON: one JSON object a line. */
export function readNdjson(chunks: AsyncIterable<Buffer>): ImportFile {
  // JSON has no such delimiter, so that a line is one cell.
  const delimiter = '\0'
  const raw = parseRecords(chunks, { delimiter, record_delimiter: '\n', quote: false })
  const records = filled(raw, ({ cells }) => {
    const line = cells.join(delimiter)
    const text = fromBytes(line)
    return { cells: [text ?? line], values: text === undefined ? notUtf8 : membersOf(text) }
  })
  return { hasHeader: false, names: ['Line'], records }
}

/** The records that are not empty. */
async function* filled(
  records: AsyncIterable<RawRecord>,
  read: (raw: RawRecord) => Pick<FileRecord, 'cells' | 'values'>,
): AsyncGenerator<FileRecord> {
  for await (const raw of records) {
    if (raw.cells.some((cell) => cell.trim() !== '')) yield { ...raw, ...read(raw) }
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

/** A column without a name gets one. */
function columnName(cell: string, at: number): string {
  const name = fromBytes(cell)?.trim()
  if (name === undefined) throw new UsageError(`The header row cannot be read. ${notUtf8}`)
  return name === '' ? `Column ${at + 1}` : readCell(name)
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
  let [row, end, read] = [0, 0, 0]
  const parser = parse({
    ...options,
    encoding: 'latin1',
    relax_column_count: true,
    on_record(cells: string[], { bytes }) {
      end = bytes
      row += 1
      found.push({ row, end, cells })
      return null
    },
  }).resume()
  const parsed = finished(parser).catch((cause: unknown) => {
    // The parser's own message may quote a cell.
    throw new UnreadableFile(endless(row + 1), { cause })
  })
  parsed.catch(() => {})
  for await (const chunk of chunks) {
    parser.write(chunk)
    read += chunk.length
    yield* found.splice(0)
    if (read - end > recordBytesMax) throw new UnreadableFile(endless(row + 1))
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
const tooManyCells =
  'It has more cells than the header row: put quotes around a cell with a delimiter in it.'

/** A text of which each character stands for a byte, read as UTF-8; undefined when it is not UTF-8. */
function fromBytes(text: string): string | undefined {
  if (!/\P{ASCII}/u.test(text)) return text
  try {
    return utf8.decode(Buffer.from(text, 'latin1'))
  } catch {
    return undefined
  }
}
