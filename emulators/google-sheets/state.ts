import type { sheets_v4 } from '@googleapis/sheets'
import type { Row } from './cell.ts'

/** The state of the emulated Google, as plain data. */

export type Role = 'owner' | 'editor' | 'viewer'

/** The service account that makes a call, and its Cloud project. */
export interface Caller {
  readonly email: string
  readonly project: string
}

/** Switches for open questions, and limits that tests can make smaller. */
export interface ModelOptions {
  /** The limit on the cells of a spreadsheet, empty ones included. */
  readonly cellsMax: number
  /** How `addSheet` compares titles. It is not known how Google folds other alphabets. */
  readonly titles: 'lower case' | 'case folding'
  /** Whether a batch with an unknown tab in `responseRanges` is applied. It is answered with an error. */
  readonly unknownRanges: 'refuse' | 'apply'
  /** Titles that no range can name. It is not known whether Google has any. */
  readonly unreadableTitles: readonly string[]
  /** What `deleteDuplicates` leaves: empty cells at the end of its range, or fewer rows in the sheet. */
  readonly removedDuplicates: 'shift cells up' | 'delete rows'
  /** Random numbers from 0 to under 1, for ids that Google chooses. */
  readonly random: () => number
}

export interface Grid {
  readonly rowCount: number
  readonly columnCount: number
  readonly frozenRowCount: number
}

/** A table that a person has made from a part of a sheet. Its first row is the header. */
export interface Table {
  readonly tableId: string
  readonly name: string
  readonly range: sheets_v4.Schema$GridRange
  /** The types of columns that are not plain text, by name. */
  readonly types: Readonly<Record<string, string>>
  /** The number of rows with totals at its end. */
  readonly footerRows: number
}

/** Cells that only the owner of the spreadsheet and these users may change. */
export interface Protection {
  readonly id: number
  readonly range: sheets_v4.Schema$GridRange
  readonly users: ReadonlySet<string>
}

export interface Sheet {
  readonly sheetId: number
  title: string
  hidden: boolean
  grid: Grid
  /** The rows from the top, which can be fewer than those of the grid. A row is never changed in place. */
  rows: (Row | undefined)[]
  protections: readonly Protection[]
  tables: readonly Table[]
}

/** Developer metadata of the spreadsheet. Every caller sees it. */
export interface StoredMetadata {
  readonly id: number
  readonly key: string
  readonly value: string
}

export interface SpreadsheetState {
  readonly id: string
  properties: sheets_v4.Schema$SpreadsheetProperties
  /** In the order of the tabs. */
  sheets: readonly Sheet[]
  readonly metadata: Map<number, StoredMetadata>
  readonly sharedWith: Map<string, Role>
}

export const modelDefaults: ModelOptions = {
  cellsMax: 10_000_000,
  titles: 'lower case',
  unknownRanges: 'refuse',
  unreadableTitles: [],
  removedDuplicates: 'shift cells up',
  random: Math.random,
}
