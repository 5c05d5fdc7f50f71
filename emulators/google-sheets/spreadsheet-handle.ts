import type { sheets_v4 } from '@googleapis/sheets'
import { columnLetters, findRange, quoteTitle } from './a1.ts'
import { randomId } from './batch.ts'
import { displayText, type Row, unpackCell } from './cell.ts'
import { renderMetadata } from './metadata.ts'
import type { SheetsModel } from './model.ts'
import { renderSheetProperties } from './render.ts'
import { dataRowCount, rowAt } from './sheet.ts'
import type { Caller, Role, Sheet, SpreadsheetState, Table } from './state.ts'
import { restoreVersion, type Version, versionOf } from './versions.ts'

/** A value that a person types into a cell: text, a number, a checkbox or a formula. */
export type TypedValue = string | number | boolean | { readonly formula: string }

/** The person who owns all spreadsheets of tests. */
export const owner: Caller = { email: 'owner@example.com', project: 'owner-project' }

/** Reads a spreadsheet, and changes it as people do. Tabs are named by their titles. */
export class SpreadsheetHandle {
  readonly id: string
  readonly #model: SheetsModel
  readonly #state: SpreadsheetState

  constructor(model: SheetsModel, state: SpreadsheetState) {
    this.#model = model
    this.#state = state
    this.id = state.id
  }

  get title(): string {
    return this.#state.properties.title ?? ''
  }

  /** The titles, in the order of the tabs. */
  titles(): string[] {
    return this.#state.sheets.map((sheet) => sheet.title)
  }

  /** The properties of a tab in the API. */
  tab(title: string): sheets_v4.Schema$SheetProperties {
    return renderSheetProperties(this.#state, this.#sheet(title))
  }

  /**
   * The texts that a person sees, from row `from` (from 0) down to the last row with a value. Rows are cut
   * after their last value.
   */
  rows(title: string, from = 0): string[][] {
    const sheet = this.#sheet(title)
    const length = Math.max(0, this.rowCount(title) - from)
    return Array.from({ length }, (_, index) => {
      const texts = rowAt(sheet, from + index).map(displayText)
      return texts.slice(0, texts.findLastIndex((text) => text !== '') + 1)
    })
  }

  /** The number of rows down to the last one with a value. */
  rowCount(title: string): number {
    return dataRowCount(this.#sheet(title))
  }

  /** Cells as they were entered: kind of value and format. */
  cells(title: string): sheets_v4.Schema$CellData[][] {
    const sheet = this.#sheet(title)
    return sheet.rows.map((_, index) => rowAt(sheet, index).map(unpackCell))
  }

  /** The developer metadata of the spreadsheet. */
  metadata(): sheets_v4.Schema$DeveloperMetadata[] {
    return [...this.#state.metadata.values()].map(renderMetadata)
  }

  renameTab(title: string, newTitle: string): void {
    const properties = { sheetId: this.#sheet(title).sheetId, title: newTitle }
    this.#do({ updateSheetProperties: { properties, fields: 'title' } })
  }

  deleteTab(title: string): void {
    this.#do({ deleteSheet: { sheetId: this.#sheet(title).sheetId } })
  }

  /** Adds a tab with rows. Returns its sheetId. */
  addTab(title: string, rows: readonly (readonly TypedValue[])[] = [], sheetId?: number): number {
    const properties = { title, ...(sheetId === undefined ? {} : { sheetId }) }
    const [reply] = this.#do({ addSheet: { properties } })
    const added = reply?.addSheet?.properties?.sheetId ?? 0
    if (rows.length > 0) this.appendRows(title, rows)
    return added
  }

  appendRows(title: string, rows: readonly (readonly TypedValue[])[]): void {
    const rowData = rows.map((row) => ({ values: row.map(cellOf) }))
    const { sheetId } = this.#sheet(title)
    this.#do({ appendCells: { sheetId, rows: rowData, fields: 'userEnteredValue' } })
  }

  /** Types a value into a cell such as `B2`. The value '' empties it. */
  editCell(title: string, cell: string, value: TypedValue): void {
    const { sheet, box } = findRange(this.#state, `${quoteTitle(title)}!${cell}`)
    const start = { sheetId: sheet.sheetId, rowIndex: box.startRow, columnIndex: box.startColumn }
    const rows = [{ values: [cellOf(value)] }]
    this.#do({ updateCells: { start, rows, fields: 'userEnteredValue' } })
  }

  /** Sorts the rows below the header by the text of a column (from 0). Empty cells come last. */
  sortRows(title: string, column: number, order: 'ascending' | 'descending' = 'ascending'): void {
    const sheet = this.#sheet(title)
    const [header, ...rows] = Array.from(sheet.rows, (_, index) => rowAt(sheet, index))
    const text = (row: Row) => displayText(row[column])
    const sorted = rows
      .filter((row) => text(row) !== '')
      .sort((left, right) => text(left).localeCompare(text(right), 'en'))
    if (order === 'descending') sorted.reverse()
    sheet.rows = [header, ...sorted, ...rows.filter((row) => text(row) === '')]
  }

  /** Inserts empty rows above a row (1-based). */
  insertRows(title: string, above: number, count = 1): void {
    this.#do({ insertDimension: { range: this.#rowRange(title, above, count) } })
  }

  /** Deletes rows from a row (1-based) on. */
  deleteRows(title: string, from: number, count = 1): void {
    this.#do({ deleteDimension: { range: this.#rowRange(title, from, count) } })
  }

  /** Inserts empty columns before a column (from 0). */
  insertColumns(title: string, before: number, count = 1): void {
    const lines = { dimension: 'COLUMNS', startIndex: before, endIndex: before + count }
    const { sheetId } = this.#sheet(title)
    this.#do({ insertDimension: { range: { sheetId, ...lines } } })
  }

  /** Moves a column (from 0) to another place. */
  moveColumn(title: string, from: number, to: number): void {
    const sheet = this.#sheet(title)
    sheet.rows = sheet.rows.map((row) => {
      const cells = Array.from({ length: sheet.grid.columnCount }, (_, index) => row?.[index])
      return cells.toSpliced(from, 1).toSpliced(to, 0, cells[from])
    })
  }

  /** Empties all cells from a row (1-based) on. The rows themselves stay. */
  clearRows(title: string, from = 1): void {
    const sheet = this.#sheet(title)
    sheet.rows = sheet.rows.slice(0, from - 1)
  }

  /** Makes a table of the range `cells`, such as `A1:G20`, or of the tab's whole content. */
  convertToTable(
    title: string,
    given: Partial<Pick<Table, 'types' | 'footerRows'>> & { readonly cells?: string } = {},
  ): void {
    const sheet = this.#sheet(title)
    const { types = {}, footerRows = 0 } = given
    const cells =
      given.cells ?? `A1:${columnLetters(rowAt(sheet, 0).length - 1)}${this.rowCount(title)}`
    const { box } = findRange(this.#state, `${quoteTitle(title)}!${cells}`)
    const name = `Table${this.#state.sheets.flatMap(({ tables }) => tables).length + 1}`
    const range = {
      ...{ sheetId: sheet.sheetId, startRowIndex: box.startRow, endRowIndex: box.endRow },
      ...{ startColumnIndex: box.startColumn, endColumnIndex: box.endColumn },
    }
    const tableId = String(randomId(this.#model.options))
    sheet.tables = [...sheet.tables, { tableId, name, range, types, footerRows }]
  }

  /** Turns the tables of a tab into plain cells. */
  revertTables(title: string): void {
    this.#sheet(title).tables = []
  }

  /** Protects a tab, or rows of it: only the owner may change them. */
  protectTab(title: string, rows: { startRowIndex?: number; endRowIndex?: number } = {}): void {
    const range = { sheetId: this.#sheet(title).sheetId, ...rows }
    this.#do({ addProtectedRange: { protectedRange: { range, editors: {} } } })
  }

  /** Removes all protections of a tab. */
  unprotectTab(title: string): void {
    this.#sheet(title).protections = []
  }

  /** Shares the spreadsheet with somebody, or not any more with `none`. */
  share(email: string, role: Exclude<Role, 'owner'> | 'none'): void {
    if (role === 'none') this.#state.sharedWith.delete(email)
    else this.#state.sharedWith.set(email, role)
  }

  /** Changes the size of the grid and drops the cells outside. */
  resizeTab(title: string, size: { rowCount?: number; columnCount?: number }): void {
    const properties = { sheetId: this.#sheet(title).sheetId, gridProperties: size }
    const fields = Object.keys(size).map((name) => `gridProperties.${name}`)
    this.#do({ updateSheetProperties: { properties, fields: fields.join(',') } })
  }

  /** The spreadsheet as it is now, to be restored later. */
  version(): Version {
    return versionOf(this.#state)
  }

  /** Restores a version, with or without the developer metadata that it had. */
  restore(version: Version, withMetadata: boolean): void {
    restoreVersion(this.#state, version, withMetadata)
  }

  /** Deletes the file. Every later call for it is answered with 404. */
  delete(): void {
    this.#model.spreadsheets.delete(this.id)
  }

  /** Copies the file with its developer metadata. The copy is shared with nobody. */
  copy(id?: string): SpreadsheetHandle {
    const state = this.#state
    const copy = this.#model.create({
      title: `Copy of ${state.properties.title ?? ''}`,
      ...(id === undefined ? {} : { id }),
      sharedWith: { [owner.email]: 'owner' },
    })
    restoreVersion(copy, versionOf(state), true)
    return new SpreadsheetHandle(this.#model, copy)
  }

  #sheet(title: string): Sheet {
    const sheet = this.#state.sheets.find((candidate) => candidate.title === title)
    if (!sheet) throw new Error(`No tab "${title}" in spreadsheet ${this.id}.`)
    return sheet
  }

  #rowRange(title: string, row: number, count: number): sheets_v4.Schema$DimensionRange {
    const { sheetId } = this.#sheet(title)
    return { sheetId, dimension: 'ROWS', startIndex: row - 1, endIndex: row - 1 + count }
  }

  #do(request: sheets_v4.Schema$Request): sheets_v4.Schema$Response[] {
    return this.#model.batchUpdate(this.#state, owner, [request])
  }
}

function cellOf(value: TypedValue): sheets_v4.Schema$CellData {
  if (typeof value === 'string') return { userEnteredValue: { stringValue: value } }
  if (typeof value === 'number') return { userEnteredValue: { numberValue: value } }
  if (typeof value === 'boolean') return { userEnteredValue: { boolValue: value } }
  return { userEnteredValue: { formulaValue: value.formula } }
}
