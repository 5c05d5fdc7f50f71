import type { sheets_v4 } from '@googleapis/sheets'
import { bool, double, int32, list, message, oneOf, text } from './schema.ts'

/** Descriptions of the messages that requests and answers share. */

export const dimension = oneOf('Dimension', 'DIMENSION_UNSPECIFIED', 'ROWS', 'COLUMNS')

const gridRange = message<sheets_v4.Schema$GridRange>('GridRange', {
  sheetId: int32,
  startRowIndex: int32,
  endRowIndex: int32,
  startColumnIndex: int32,
  endColumnIndex: int32,
})

export const gridCoordinate = message<sheets_v4.Schema$GridCoordinate>('GridCoordinate', {
  sheetId: int32,
  rowIndex: int32,
  columnIndex: int32,
})

export const dimensionRange = message<sheets_v4.Schema$DimensionRange>('DimensionRange', {
  sheetId: int32,
  dimension,
  startIndex: int32,
  endIndex: int32,
})

export const developerMetadata = message<sheets_v4.Schema$DeveloperMetadata>('DeveloperMetadata', {
  metadataId: int32,
  metadataKey: text,
  metadataValue: text,
  location: message<sheets_v4.Schema$DeveloperMetadataLocation>('DeveloperMetadataLocation', {
    locationType: oneOf('DeveloperMetadataLocationType', 'SPREADSHEET'),
    spreadsheet: bool,
  }),
  visibility: oneOf('DeveloperMetadataVisibility', 'DOCUMENT', 'PROJECT'),
})

export const dataFilter = message<sheets_v4.Schema$DataFilter>('DataFilter', {
  developerMetadataLookup: message<sheets_v4.Schema$DeveloperMetadataLookup>(
    'DeveloperMetadataLookup',
    { metadataId: int32, metadataKey: text },
  ),
})

const extendedValue = message<sheets_v4.Schema$ExtendedValue>(
  'ExtendedValue',
  { numberValue: double, stringValue: text, boolValue: bool, formulaValue: text },
  'value',
)

const cellFormat = message<sheets_v4.Schema$CellFormat>('CellFormat', {
  numberFormat: message<sheets_v4.Schema$NumberFormat>('NumberFormat', {
    type: text,
    pattern: text,
  }),
  textFormat: message<sheets_v4.Schema$TextFormat>('TextFormat', { bold: bool, italic: bool }),
})

export const cellData = message<sheets_v4.Schema$CellData>('CellData', {
  userEnteredValue: extendedValue,
  effectiveValue: extendedValue,
  formattedValue: text,
  userEnteredFormat: cellFormat,
  effectiveFormat: cellFormat,
})

export const rowData = message<sheets_v4.Schema$RowData>('RowData', { values: list(cellData) })

export const sheetProperties = message<sheets_v4.Schema$SheetProperties>('SheetProperties', {
  sheetId: int32,
  title: text,
  index: int32,
  sheetType: oneOf('SheetType', 'SHEET_TYPE_UNSPECIFIED', 'GRID', 'OBJECT', 'DATA_SOURCE'),
  gridProperties: message<sheets_v4.Schema$GridProperties>('GridProperties', {
    rowCount: int32,
    columnCount: int32,
    frozenRowCount: int32,
  }),
  hidden: bool,
})

export const spreadsheetProperties = message<sheets_v4.Schema$SpreadsheetProperties>(
  'SpreadsheetProperties',
  { title: text, locale: text, autoRecalc: text, timeZone: text },
)

export const protectedRange = message<sheets_v4.Schema$ProtectedRange>('ProtectedRange', {
  protectedRangeId: int32,
  range: gridRange,
  description: text,
  warningOnly: bool,
  requestingUserCanEdit: bool,
  editors: message<sheets_v4.Schema$Editors>('Editors', {
    users: list(text),
    groups: list(text),
  }),
})

export const table = message<sheets_v4.Schema$Table>('Table', {
  tableId: text,
  name: text,
  range: gridRange,
  columnProperties: list(
    message<sheets_v4.Schema$TableColumnProperties>('TableColumnProperties', {
      columnIndex: int32,
      columnName: text,
      columnType: text,
    }),
  ),
})
