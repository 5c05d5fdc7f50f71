import type { sheets_v4 } from '@googleapis/sheets'
import { bool, int32, list, message, oneOf, opaque, text } from './schema.ts'
import * as types from './schema-types.ts'

/** The requests that a batch may hold. Kinds that are `opaque` are known and not looked into. */

const { dimension, dimensionRange, gridRange, gridCoordinate, dataFilter } = types

const addSheet = message<sheets_v4.Schema$AddSheetRequest>('AddSheetRequest', {
  properties: types.sheetProperties,
})
const deleteSheet = message<sheets_v4.Schema$DeleteSheetRequest>('DeleteSheetRequest', {
  sheetId: int32,
})
const duplicateSheet = message<sheets_v4.Schema$DuplicateSheetRequest>('DuplicateSheetRequest', {
  sourceSheetId: int32,
  insertSheetIndex: int32,
  newSheetId: int32,
  newSheetName: text,
})
const updateSheetProperties = message<sheets_v4.Schema$UpdateSheetPropertiesRequest>(
  'UpdateSheetPropertiesRequest',
  { properties: types.sheetProperties, fields: text },
)
const updateSpreadsheetProperties = message<sheets_v4.Schema$UpdateSpreadsheetPropertiesRequest>(
  'UpdateSpreadsheetPropertiesRequest',
  { properties: types.spreadsheetProperties, fields: text },
)
const appendCells = message<sheets_v4.Schema$AppendCellsRequest>('AppendCellsRequest', {
  sheetId: int32,
  rows: list(types.rowData),
  fields: text,
  tableId: text,
})
const updateCells = message<sheets_v4.Schema$UpdateCellsRequest>('UpdateCellsRequest', {
  start: gridCoordinate,
  range: gridRange,
  rows: list(types.rowData),
  fields: text,
})
const repeatCell = message<sheets_v4.Schema$RepeatCellRequest>('RepeatCellRequest', {
  range: gridRange,
  cell: types.cellData,
  fields: text,
})
const copyPaste = message<sheets_v4.Schema$CopyPasteRequest>('CopyPasteRequest', {
  source: gridRange,
  destination: gridRange,
  pasteType: text,
  pasteOrientation: text,
})
const cutPaste = message<sheets_v4.Schema$CutPasteRequest>('CutPasteRequest', {
  source: gridRange,
  destination: gridCoordinate,
  pasteType: text,
})
const sortRange = message<sheets_v4.Schema$SortRangeRequest>('SortRangeRequest', {
  range: gridRange,
  sortSpecs: list(
    message<sheets_v4.Schema$SortSpec>('SortSpec', {
      dimensionIndex: int32,
      sortOrder: oneOf('SortOrder', 'SORT_ORDER_UNSPECIFIED', 'ASCENDING', 'DESCENDING'),
      foregroundColor: opaque(),
      foregroundColorStyle: opaque(),
      backgroundColor: opaque(),
      backgroundColorStyle: opaque(),
      dataSourceColumnReference: opaque(),
    }),
  ),
})
const appendDimension = message<sheets_v4.Schema$AppendDimensionRequest>('AppendDimensionRequest', {
  sheetId: int32,
  dimension,
  length: int32,
})
const insertDimension = message<sheets_v4.Schema$InsertDimensionRequest>('InsertDimensionRequest', {
  range: dimensionRange,
  inheritFromBefore: bool,
})
const deleteDimension = message<sheets_v4.Schema$DeleteDimensionRequest>('DeleteDimensionRequest', {
  range: dimensionRange,
})
const deleteRange = message<sheets_v4.Schema$DeleteRangeRequest>('DeleteRangeRequest', {
  range: gridRange,
  shiftDimension: dimension,
})
const updateDimensionProperties = message<sheets_v4.Schema$UpdateDimensionPropertiesRequest>(
  'UpdateDimensionPropertiesRequest',
  {
    range: dimensionRange,
    properties: types.dimensionProperties,
    fields: text,
    dataSourceSheetRange: opaque(),
  },
)
const autoResizeDimensions = message<sheets_v4.Schema$AutoResizeDimensionsRequest>(
  'AutoResizeDimensionsRequest',
  { dimensions: dimensionRange, dataSourceSheetDimensions: opaque() },
)
const addDimensionGroup = message<sheets_v4.Schema$AddDimensionGroupRequest>(
  'AddDimensionGroupRequest',
  { range: dimensionRange },
)
const deleteDimensionGroup = message<sheets_v4.Schema$DeleteDimensionGroupRequest>(
  'DeleteDimensionGroupRequest',
  { range: dimensionRange },
)
const mergeCells = message<sheets_v4.Schema$MergeCellsRequest>('MergeCellsRequest', {
  range: gridRange,
  mergeType: text,
})
const unmergeCells = message<sheets_v4.Schema$UnmergeCellsRequest>('UnmergeCellsRequest', {
  range: gridRange,
})
const setDataValidation = message<sheets_v4.Schema$SetDataValidationRequest>(
  'SetDataValidationRequest',
  { range: gridRange, rule: opaque(), filteredRowsIncluded: bool },
)
const setBasicFilter = message<sheets_v4.Schema$SetBasicFilterRequest>('SetBasicFilterRequest', {
  filter: types.basicFilter,
})
const clearBasicFilter = message<sheets_v4.Schema$ClearBasicFilterRequest>(
  'ClearBasicFilterRequest',
  { sheetId: int32 },
)
const addNamedRange = message<sheets_v4.Schema$AddNamedRangeRequest>('AddNamedRangeRequest', {
  namedRange: types.namedRange,
})
const updateNamedRange = message<sheets_v4.Schema$UpdateNamedRangeRequest>(
  'UpdateNamedRangeRequest',
  { namedRange: types.namedRange, fields: text },
)
const deleteNamedRange = message<sheets_v4.Schema$DeleteNamedRangeRequest>(
  'DeleteNamedRangeRequest',
  { namedRangeId: text },
)
const addProtectedRange = message<sheets_v4.Schema$AddProtectedRangeRequest>(
  'AddProtectedRangeRequest',
  { protectedRange: types.protectedRange },
)
const updateProtectedRange = message<sheets_v4.Schema$UpdateProtectedRangeRequest>(
  'UpdateProtectedRangeRequest',
  { protectedRange: types.protectedRange, fields: text },
)
const deleteProtectedRange = message<sheets_v4.Schema$DeleteProtectedRangeRequest>(
  'DeleteProtectedRangeRequest',
  { protectedRangeId: int32 },
)
const createDeveloperMetadata = message<sheets_v4.Schema$CreateDeveloperMetadataRequest>(
  'CreateDeveloperMetadataRequest',
  { developerMetadata: types.developerMetadata },
)
const updateDeveloperMetadata = message<sheets_v4.Schema$UpdateDeveloperMetadataRequest>(
  'UpdateDeveloperMetadataRequest',
  { dataFilters: list(dataFilter), developerMetadata: types.developerMetadata, fields: text },
)
const deleteDeveloperMetadata = message<sheets_v4.Schema$DeleteDeveloperMetadataRequest>(
  'DeleteDeveloperMetadataRequest',
  { dataFilter },
)

export const request = message<sheets_v4.Schema$Request>(
  'Request',
  {
    addSheet,
    deleteSheet,
    duplicateSheet,
    updateSheetProperties,
    updateSpreadsheetProperties,
    appendCells,
    updateCells,
    repeatCell,
    copyPaste,
    cutPaste,
    sortRange,
    appendDimension,
    insertDimension,
    deleteDimension,
    deleteRange,
    updateDimensionProperties,
    autoResizeDimensions,
    addDimensionGroup,
    deleteDimensionGroup,
    mergeCells,
    unmergeCells,
    setDataValidation,
    setBasicFilter,
    clearBasicFilter,
    addNamedRange,
    updateNamedRange,
    deleteNamedRange,
    addProtectedRange,
    updateProtectedRange,
    deleteProtectedRange,
    createDeveloperMetadata,
    updateDeveloperMetadata,
    deleteDeveloperMetadata,
    updateBorders: opaque(),
    addBanding: opaque(),
    addChart: opaque(),
    addCommentReply: opaque(),
    addConditionalFormatRule: opaque(),
    addDataSource: opaque(),
    addFilterView: opaque(),
    addSlicer: opaque(),
    addTable: opaque(),
    autoFill: opaque(),
    cancelDataSourceRefresh: opaque(),
    deleteBanding: opaque(),
    deleteComment: opaque(),
    deleteCommentReply: opaque(),
    deleteConditionalFormatRule: opaque(),
    deleteDataSource: opaque(),
    deleteDuplicates: opaque(),
    deleteEmbeddedObject: opaque(),
    deleteFilterView: opaque(),
    deleteTable: opaque(),
    duplicateFilterView: opaque(),
    findReplace: opaque(),
    insertComment: opaque(),
    insertRange: opaque(),
    moveDimension: opaque(),
    pasteData: opaque(),
    randomizeRange: opaque(),
    refreshDataSource: opaque(),
    textToColumns: opaque(),
    trimWhitespace: opaque(),
    updateBanding: opaque(),
    updateChartSpec: opaque(),
    updateCommentPost: opaque(),
    updateConditionalFormatRule: opaque(),
    updateDataSource: opaque(),
    updateDimensionGroup: opaque(),
    updateEmbeddedObjectBorder: opaque(),
    updateEmbeddedObjectPosition: opaque(),
    updateFilterView: opaque(),
    updateSlicerSpec: opaque(),
    updateTable: opaque(),
  },
  'kind',
)
