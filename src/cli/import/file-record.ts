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

/** The name of a column for people, cut to 60 characters. */
export function quotedName(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)
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

/** The columns that a file of rejected rows has besides. They are not imported. */
export const rejectedColumns: readonly string[] = ['Rejected row', 'Rejected because']
