import type { sheets_v4 } from '@googleapis/sheets'
import { bool, double, int32, list, message, oneOf, text } from './schema.ts'

/** The bodies of requests, and the messages that they share with answers. */

const dimension = oneOf('Dimension', 'DIMENSION_UNSPECIFIED', 'ROWS', 'COLUMNS')

export const gridRange = message<sheets_v4.Schema$GridRange>('GridRange', {
  sheetId: int32,
  startRowIndex: int32,
  endRowIndex: int32,
  startColumnIndex: int32,
  endColumnIndex: int32,
})

const gridCoordinate = message<sheets_v4.Schema$GridCoordinate>('GridCoordinate', {
  sheetId: int32,
  rowIndex: int32,
  columnIndex: int32,
})

const dimensionRange = message<sheets_v4.Schema$DimensionRange>('DimensionRange', {
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

export const sheetPropertyFields = {
  sheetId: int32,
  title: text,
  sheetType: oneOf('SheetType', 'GRID'),
  gridProperties: message<sheets_v4.Schema$GridProperties>('GridProperties', {
    rowCount: int32,
    columnCount: int32,
    frozenRowCount: int32,
  }),
  hidden: bool,
}

/** Requests cannot move a tab: they have no index. */
export const sheetProperties = message<sheets_v4.Schema$SheetProperties>(
  'SheetProperties',
  sheetPropertyFields,
)

export const protectedRange = message<sheets_v4.Schema$ProtectedRange>('ProtectedRange', {
  protectedRangeId: int32,
  range: gridRange,
  description: text,
  warningOnly: bool,
  unprotectedRanges: list(gridRange),
  requestingUserCanEdit: bool,
  editors: message<sheets_v4.Schema$Editors>('Editors', {
    users: list(text),
    groups: list(text),
  }),
})

const request = message<sheets_v4.Schema$Request>(
  'Request',
  {
    addSheet: message<sheets_v4.Schema$AddSheetRequest>('AddSheetRequest', {
      properties: sheetProperties,
    }),
    deleteSheet: message<sheets_v4.Schema$DeleteSheetRequest>('DeleteSheetRequest', {
      sheetId: int32,
    }),
    updateSheetProperties: message<sheets_v4.Schema$UpdateSheetPropertiesRequest>(
      'UpdateSheetPropertiesRequest',
      { properties: sheetProperties, fields: text },
    ),
    appendCells: message<sheets_v4.Schema$AppendCellsRequest>('AppendCellsRequest', {
      sheetId: int32,
      rows: list(rowData),
      fields: text,
      tableId: text,
    }),
    updateCells: message<sheets_v4.Schema$UpdateCellsRequest>('UpdateCellsRequest', {
      start: gridCoordinate,
      rows: list(rowData),
      fields: text,
    }),
    appendDimension: message<sheets_v4.Schema$AppendDimensionRequest>('AppendDimensionRequest', {
      sheetId: int32,
      dimension,
      length: int32,
    }),
    insertDimension: message<sheets_v4.Schema$InsertDimensionRequest>('InsertDimensionRequest', {
      range: dimensionRange,
      inheritFromBefore: bool,
    }),
    deleteDimension: message<sheets_v4.Schema$DeleteDimensionRequest>('DeleteDimensionRequest', {
      range: dimensionRange,
    }),
    deleteDuplicates: message<sheets_v4.Schema$DeleteDuplicatesRequest>('DeleteDuplicatesRequest', {
      range: gridRange,
      comparisonColumns: list(dimensionRange),
    }),
    addProtectedRange: message<sheets_v4.Schema$AddProtectedRangeRequest>(
      'AddProtectedRangeRequest',
      { protectedRange: protectedRange },
    ),
    createDeveloperMetadata: message<sheets_v4.Schema$CreateDeveloperMetadataRequest>(
      'CreateDeveloperMetadataRequest',
      { developerMetadata: developerMetadata },
    ),
    deleteDeveloperMetadata: message<sheets_v4.Schema$DeleteDeveloperMetadataRequest>(
      'DeleteDeveloperMetadataRequest',
      { dataFilter: dataFilter },
    ),
  },
  'kind',
)

export const batchUpdateBody = message<sheets_v4.Schema$BatchUpdateSpreadsheetRequest>(
  'BatchUpdateSpreadsheetRequest',
  {
    requests: list(request),
    includeSpreadsheetInResponse: bool,
    responseRanges: list(text),
    responseIncludeGridData: bool,
  },
)

export const searchMetadataBody = message<sheets_v4.Schema$SearchDeveloperMetadataRequest>(
  'SearchDeveloperMetadataRequest',
  { dataFilters: list(dataFilter) },
)
