/** One record of a file to import: a row of CSV, or a line of NDJSON. */
export interface FileRecord {
  /** Its row, as spreadsheet programs count, from 1: the header row and empty ones count. */
  readonly row: number
  /** The byte after it. */
  readonly end: number
  /** What the file of rejected rows shows of it, under `ImportFile.cellNames`. */
  readonly cells: readonly string[]
  /** Keys of columns with their values; or a text that says why it cannot be read. */
  readonly values: readonly (readonly [column: string, value: unknown])[] | string
}

/** A column that a header row names. */
export interface FileColumn {
  readonly name: string
  /** No other column has it: the name, if need be with the letters of the column. */
  readonly key: string
}

/** The letters that spreadsheet programs show above a column, from 0: A, …, Z, AA, … */
export function lettersOf(column: number): string {
  const before = column < 26 ? '' : lettersOf(Math.floor(column / 26) - 1)
  return before + String.fromCodePoint(65 + (column % 26))
}

/** A file whose first record is known. */
export interface ImportFile {
  /** The columns, when a header row names them. */
  readonly columns: readonly FileColumn[] | undefined
  readonly cellNames: readonly string[]
  /** All records that are not empty. Fails with `UnreadableFile`. */
  readonly records: AsyncIterable<FileRecord>
}

/** The file cannot be imported, or not from here on. The message says why, and what to do. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile'
}

/** The most bytes of one record: far more than all fields of a signup can have. */
export const recordBytesMax = 1024 * 1024

/** The columns that a file of rejected rows has besides. They are not imported. */
export const rejectedColumns: readonly string[] = ['Rejected row', 'Rejected because']

const notAscii = /\P{ASCII}/u

/** A text of which each character stands for a byte, read as UTF-8; undefined when it is not UTF-8. */
export function fromBytes(text: string): string | undefined {
  if (!notAscii.test(text)) return text
  try {
    return utf8.decode(Buffer.from(text, 'latin1'))
  } catch {
    return undefined
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const notUtf8 = 'It has characters that are not UTF-8: save the file as "CSV UTF-8".'
