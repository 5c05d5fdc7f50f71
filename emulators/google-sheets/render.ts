import type { sheets_v4 } from '@googleapis/sheets'
import { renderCell } from './cell.ts'
import { boxOf, intersects, renderRange, type Box } from './grid-range.ts'
import { renderMetadata } from './metadata.ts'
import { rowAt } from './sheet.ts'
import { mayEdit } from './batch.ts'
import { renderTable } from './tables.ts'
import type { Caller, Protection, Sheet, SpreadsheetState } from './state.ts'

/** The parts of a spreadsheet that go into an answer. */
export interface View {
  readonly caller: Caller
  /** The requested ranges of sheets, if any: the answer has only these. */
  readonly boxes?: ReadonlyMap<Sheet, readonly Box[]> | undefined
  /** Whether the answer has rows and cells. */
  readonly includeGridData: boolean
}

export function renderSpreadsheet(
  spreadsheet: SpreadsheetState,
  view: View,
): sheets_v4.Schema$Spreadsheet {
  const { boxes } = view
  const sheets = spreadsheet.sheets.filter((sheet) => !boxes || boxes.has(sheet))
  return {
    spreadsheetId: spreadsheet.id,
    properties: spreadsheet.properties,
    sheets: sheets.map((sheet) => renderSheet(spreadsheet, sheet, view)),
    spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${spreadsheet.id}/edit`,
    ...optional('developerMetadata', [...spreadsheet.metadata.values()].map(renderMetadata)),
  }
}

function renderSheet(
  spreadsheet: SpreadsheetState,
  sheet: Sheet,
  view: View,
): sheets_v4.Schema$Sheet {
  const { caller, includeGridData } = view
  const boxes = view.boxes?.get(sheet) ?? [wholeGrid(sheet)]
  return {
    properties: renderSheetProperties(spreadsheet, sheet),
    ...(includeGridData ? { data: boxes.map((box) => renderGrid(sheet, box)) } : {}),
    ...optional(
      'protectedRanges',
      sheet.protections.map((range) => renderProtectedRange(range, spreadsheet, caller)),
    ),
    ...optional('tables', shownTables(sheet, boxes)),
  }
}

/** The tables that a range touches. */
function shownTables(sheet: Sheet, boxes: readonly Box[]): sheets_v4.Schema$Table[] {
  return sheet.tables
    .filter(({ range }) => boxes.some((box) => intersects(boxOf(range, sheet.grid), box)))
    .map((table) => renderTable(sheet, table))
}

/** A field of an answer, which leaves out empty lists. */
function optional<K extends string, T>(name: K, list: readonly T[]): Partial<Record<K, T[]>> {
  const field: Partial<Record<K, T[]>> = {}
  if (list.length > 0) field[name] = [...list]
  return field
}

function wholeGrid({ grid }: Sheet): Box {
  return { startRow: 0, endRow: grid.rowCount, startColumn: 0, endColumn: grid.columnCount }
}

export function renderSheetProperties(
  spreadsheet: SpreadsheetState,
  sheet: Sheet,
): sheets_v4.Schema$SheetProperties {
  const { rowCount, columnCount, frozenRowCount } = sheet.grid
  return {
    sheetId: sheet.sheetId,
    title: sheet.title,
    index: spreadsheet.sheets.indexOf(sheet),
    sheetType: 'GRID',
    gridProperties: {
      rowCount,
      columnCount,
      // Google's JSON leaves out a zero.
      ...(frozenRowCount > 0 ? { frozenRowCount } : {}),
    },
    ...(sheet.hidden ? { hidden: true } : {}),
  }
}

function renderGrid(sheet: Sheet, box: Box): sheets_v4.Schema$GridData {
  const rowData: sheets_v4.Schema$RowData[] = []
  for (let row = box.startRow; row < Math.min(box.endRow, sheet.rows.length); row += 1) {
    const values = rowAt(sheet, row).slice(box.startColumn, box.endColumn).map(renderCell)
    rowData.push(values.length > 0 ? { values } : {})
  }
  return {
    ...(box.startRow > 0 ? { startRow: box.startRow } : {}),
    ...(box.startColumn > 0 ? { startColumn: box.startColumn } : {}),
    ...optional('rowData', rowData),
  }
}

/** Google shows the editors only to callers who may edit. */
export function renderProtectedRange(
  protection: Protection,
  spreadsheet: SpreadsheetState,
  caller: Caller,
): sheets_v4.Schema$ProtectedRange {
  const common = { protectedRangeId: protection.id, range: renderRange(protection.range) }
  if (!mayEdit(protection, spreadsheet, caller)) return common
  const editors = optional('users', [...protection.users])
  return { ...common, requestingUserCanEdit: true, editors }
}
