import type { sheets_v4 } from '@googleapis/sheets'
import { renderCell } from './cell.ts'
import { boxOf, intersects, renderRange, type Box } from './grid-range.ts'
import { isVisible, renderMetadata } from './metadata.ts'
import { rowAt } from './sheet.ts'
import { mayEdit } from './batch.ts'
import { renderTable } from './tables.ts'
import type { Caller, Sheet, SpreadsheetState, StoredMetadata } from './state.ts'

/** What of a spreadsheet goes into an answer. */
export interface View {
  readonly caller: Caller
  /** Only these parts of the sheets, when ranges were asked for. */
  readonly boxes?: ReadonlyMap<Sheet, readonly Box[]> | undefined
  /** Rows and cells: by far the largest part. */
  readonly includeGridData: boolean
}

export function renderSpreadsheet(
  spreadsheet: SpreadsheetState,
  view: View,
): sheets_v4.Schema$Spreadsheet {
  const { boxes, caller } = view
  const sheets = spreadsheet.sheets.filter((sheet) => !boxes || boxes.has(sheet))
  const metadata = [...spreadsheet.metadata.values()].filter((entry) => isVisible(entry, caller))
  const ownMetadata = metadata.filter(({ place }) => place.kind === 'spreadsheet')
  return {
    spreadsheetId: spreadsheet.id,
    properties: spreadsheet.properties,
    sheets: sheets.map((sheet) => renderSheet(spreadsheet, sheet, metadata, view)),
    spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${spreadsheet.id}/edit`,
    ...optional('developerMetadata', ownMetadata.map(renderMetadata)),
  }
}

function renderSheet(
  spreadsheet: SpreadsheetState,
  sheet: Sheet,
  metadata: readonly StoredMetadata[],
  view: View,
): sheets_v4.Schema$Sheet {
  const { caller, includeGridData } = view
  const boxes = view.boxes?.get(sheet) ?? [wholeGrid(sheet)]
  const own = metadata.filter(
    ({ place }) => place.kind === 'sheet' && place.sheetId === sheet.sheetId,
  )
  return {
    properties: renderSheetProperties(spreadsheet, sheet),
    ...(includeGridData ? { data: boxes.map((box) => renderGrid(sheet, box, metadata)) } : {}),
    ...optional(
      'protectedRanges',
      sheet.protectedRanges.map((range) => renderProtectedRange(range, spreadsheet, caller)),
    ),
    ...optional('tables', shownTables(sheet, boxes)),
    ...optional('developerMetadata', own.map(renderMetadata)),
  }
}

/** Those that a range touches. */
function shownTables(sheet: Sheet, boxes: readonly Box[]): sheets_v4.Schema$Table[] {
  return sheet.tables
    .filter(({ range }) => boxes.some((box) => intersects(boxOf(range, sheet.grid), box)))
    .map((table) => renderTable(sheet, table))
}

/** Empty lists do not appear in answers. */
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
  return {
    sheetId: sheet.sheetId,
    title: sheet.title,
    index: spreadsheet.sheets.indexOf(sheet),
    sheetType: 'GRID',
    gridProperties: withoutZeros(sheet.grid),
    ...(sheet.hidden ? { hidden: true } : {}),
  }
}

function withoutZeros(grid: Sheet['grid']): sheets_v4.Schema$GridProperties {
  const { rowCount, columnCount, frozenRowCount, frozenColumnCount } = grid
  return {
    rowCount,
    columnCount,
    ...(frozenRowCount ? { frozenRowCount } : {}),
    ...(frozenColumnCount ? { frozenColumnCount } : {}),
  }
}

const defaultRowPixels = 21
const defaultColumnPixels = 100

function renderGrid(
  sheet: Sheet,
  box: Box,
  metadata: readonly StoredMetadata[],
): sheets_v4.Schema$GridData {
  const rowData: sheets_v4.Schema$RowData[] = []
  for (let row = box.startRow; row < Math.min(box.endRow, sheet.rows.length); row += 1) {
    const values = rowAt(sheet, row).slice(box.startColumn, box.endColumn).map(renderCell)
    rowData.push(values.length > 0 ? { values } : {})
  }
  const lines = (dimension: string, start: number, end: number, pixelSize: number) => {
    const properties: sheets_v4.Schema$DimensionProperties[] = []
    const own = metadata.filter(
      ({ place }) =>
        place.kind === 'dimension' &&
        place.sheetId === sheet.sheetId &&
        place.dimension === dimension,
    )
    for (let index = start; index < end; index += 1) {
      const here = own.filter(
        ({ place }) => place.kind === 'dimension' && place.startIndex === index,
      )
      properties.push({ pixelSize, ...optional('developerMetadata', here.map(renderMetadata)) })
    }
    return properties
  }
  return {
    ...(box.startRow > 0 ? { startRow: box.startRow } : {}),
    ...(box.startColumn > 0 ? { startColumn: box.startColumn } : {}),
    ...optional('rowData', rowData),
    rowMetadata: lines('ROWS', box.startRow, box.endRow, defaultRowPixels),
    columnMetadata: lines('COLUMNS', box.startColumn, box.endColumn, defaultColumnPixels),
  }
}

/** Editors are shown only to those who may edit. */
export function renderProtectedRange(
  protection: sheets_v4.Schema$ProtectedRange,
  spreadsheet: SpreadsheetState,
  caller: Caller,
): sheets_v4.Schema$ProtectedRange {
  const { protectedRangeId, range, description, warningOnly, editors } = protection
  const editable = mayEdit(protection, spreadsheet, caller)
  const users = editors?.users ?? []
  return {
    ...(protectedRangeId ? { protectedRangeId } : {}),
    range: renderRange(range ?? {}),
    ...(description ? { description } : {}),
    ...(warningOnly ? { warningOnly } : {}),
    ...(editable ? { requestingUserCanEdit: true } : {}),
    ...optional('unprotectedRanges', (protection.unprotectedRanges ?? []).map(renderRange)),
    ...(editable && !warningOnly ? { editors: optional('users', users) } : {}),
  }
}
