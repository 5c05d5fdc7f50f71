import type { sheets_v4 } from '@googleapis/sheets'
import type { Row } from './cell.ts'

/** The state of the emulated Google: plain data, no behaviour. Everything here is synchronous. */

export type Role = 'owner' | 'editor' | 'viewer'

/** Who calls: a service account, and the Cloud project that it belongs to. */
export interface Caller {
  readonly email: string
  readonly project: string
}

/** How the open questions are answered, and limits that tests want smaller. */
export interface ModelOptions {
  /** Cells of a workbook over all tabs, empty ones included. */
  readonly cellsMax: number
  /** Which titles are the same to `addSheet`: nobody has told how Google folds other alphabets. */
  readonly titles: 'lower case' | 'case folding'
  /** A batch whose `responseRanges` name no tab is refused, or is applied and answered with the error. */
  readonly unknownRanges: 'refuse' | 'apply'
  /** Numbers in [0, 1), for ids that Google would choose. */
  readonly random: () => number
}

export interface Grid {
  readonly rowCount: number
  readonly columnCount: number
  readonly frozenRowCount: number
}

/** A table that a person has made of a part of a sheet: its first row is the header. */
export interface Table {
  readonly tableId: string
  readonly name: string
  readonly range: sheets_v4.Schema$GridRange
  /** Types other than text, by the names of columns. */
  readonly types: Readonly<Record<string, string>>
  /** Rows at its end that hold totals. */
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
  /** Rows from the top; may be shorter than the grid. A row is replaced, never changed in place. */
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
  random: Math.random,
}
