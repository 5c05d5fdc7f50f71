import type { sheets_v4 } from '@googleapis/sheets'
import { bool, double, int32, list, message, oneOf, opaque, text } from './schema.ts'

/** Descriptions of the messages that requests and answers share. */

export const dimension = oneOf('Dimension', 'DIMENSION_UNSPECIFIED', 'ROWS', 'COLUMNS')

export const gridRange = message<sheets_v4.Schema$GridRange>('GridRange', {
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

const visibility = oneOf(
  'DeveloperMetadataVisibility',
  'DEVELOPER_METADATA_VISIBILITY_UNSPECIFIED',
  'DOCUMENT',
  'PROJECT',
)
const locationType = oneOf(
  'DeveloperMetadataLocationType',
  'DEVELOPER_METADATA_LOCATION_TYPE_UNSPECIFIED',
  'ROW',
  'COLUMN',
  'SHEET',
  'SPREADSHEET',
)

const metadataLocation = message<sheets_v4.Schema$DeveloperMetadataLocation>(
  'DeveloperMetadataLocation',
  { locationType, spreadsheet: bool, sheetId: int32, dimensionRange },
)

export const developerMetadata = message<sheets_v4.Schema$DeveloperMetadata>('DeveloperMetadata', {
  metadataId: int32,
  metadataKey: text,
  metadataValue: text,
  location: metadataLocation,
  visibility,
})

export const dataFilter = message<sheets_v4.Schema$DataFilter>('DataFilter', {
  a1Range: text,
  gridRange,
  developerMetadataLookup: message<sheets_v4.Schema$DeveloperMetadataLookup>(
    'DeveloperMetadataLookup',
    {
      locationType,
      metadataLocation,
      locationMatchingStrategy: oneOf(
        'DeveloperMetadataLocationMatchingStrategy',
        'DEVELOPER_METADATA_LOCATION_MATCHING_STRATEGY_UNSPECIFIED',
        'EXACT_LOCATION',
        'INTERSECTING_LOCATION',
      ),
      metadataId: int32,
      metadataKey: text,
      metadataValue: text,
      visibility,
    },
  ),
})

const extendedValue = message<sheets_v4.Schema$ExtendedValue>(
  'ExtendedValue',
  {
    numberValue: double,
    stringValue: text,
    boolValue: bool,
    formulaValue: text,
    errorValue: opaque(),
  },
  'value',
)

const cellFormat = message<sheets_v4.Schema$CellFormat>('CellFormat', {
  numberFormat: message<sheets_v4.Schema$NumberFormat>('NumberFormat', {
    type: text,
    pattern: text,
  }),
  backgroundColor: opaque(),
  backgroundColorStyle: opaque(),
  borders: opaque(),
  padding: opaque(),
  horizontalAlignment: text,
  verticalAlignment: text,
  wrapStrategy: text,
  textDirection: text,
  hyperlinkDisplayType: text,
  textRotation: opaque(),
  textFormat: message<sheets_v4.Schema$TextFormat>('TextFormat', {
    foregroundColor: opaque(),
    foregroundColorStyle: opaque(),
    fontFamily: text,
    fontSize: int32,
    bold: bool,
    italic: bool,
    strikethrough: bool,
    underline: bool,
    link: opaque(),
  }),
})

export const cellData = message<sheets_v4.Schema$CellData>('CellData', {
  userEnteredValue: extendedValue,
  effectiveValue: extendedValue,
  formattedValue: text,
  userEnteredFormat: cellFormat,
  effectiveFormat: cellFormat,
  hyperlink: text,
  note: text,
  textFormatRuns: opaque(),
  dataValidation: opaque(),
  pivotTable: opaque(),
  dataSourceTable: opaque(),
  dataSourceFormula: opaque(),
  chipRuns: opaque(),
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
    frozenColumnCount: int32,
    hideGridlines: bool,
    rowGroupControlAfter: bool,
    columnGroupControlAfter: bool,
  }),
  hidden: bool,
  tabColor: opaque(),
  tabColorStyle: opaque(),
  rightToLeft: bool,
  dataSourceSheetProperties: opaque(),
})

export const spreadsheetProperties = message<sheets_v4.Schema$SpreadsheetProperties>(
  'SpreadsheetProperties',
  {
    title: text,
    locale: text,
    autoRecalc: text,
    timeZone: text,
    defaultFormat: cellFormat,
    iterativeCalculationSettings: opaque(),
    spreadsheetTheme: opaque(),
    importFunctionsExternalUrlAccessAllowed: bool,
  },
)

export const protectedRange = message<sheets_v4.Schema$ProtectedRange>('ProtectedRange', {
  protectedRangeId: int32,
  range: gridRange,
  namedRangeId: text,
  tableId: text,
  description: text,
  warningOnly: bool,
  requestingUserCanEdit: bool,
  unprotectedRanges: list(gridRange),
  editors: message<sheets_v4.Schema$Editors>('Editors', {
    users: list(text),
    groups: list(text),
    domainUsersCanEdit: bool,
  }),
})

export const namedRange = message<sheets_v4.Schema$NamedRange>('NamedRange', {
  namedRangeId: text,
  name: text,
  range: gridRange,
})

export const basicFilter = message<sheets_v4.Schema$BasicFilter>('BasicFilter', {
  range: gridRange,
  tableId: text,
  sortSpecs: opaque(),
  filterSpecs: opaque(),
  criteria: opaque(),
})

export const dimensionProperties = message<sheets_v4.Schema$DimensionProperties>(
  'DimensionProperties',
  {
    hiddenByFilter: bool,
    hiddenByUser: bool,
    pixelSize: int32,
    developerMetadata: list(developerMetadata),
    dataSourceColumnReference: opaque(),
  },
)
