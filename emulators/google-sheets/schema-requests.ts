import type { sheets_v4 } from '@googleapis/sheets'
import { bool, int32, list, message, text } from './schema.ts'
import * as types from './schema-types.ts'

/** The requests that a batch may hold. */

const { dimension, dimensionRange, gridCoordinate } = types

export const request = message<sheets_v4.Schema$Request>(
  'Request',
  {
    addSheet: message<sheets_v4.Schema$AddSheetRequest>('AddSheetRequest', {
      properties: types.sheetProperties,
    }),
    deleteSheet: message<sheets_v4.Schema$DeleteSheetRequest>('DeleteSheetRequest', {
      sheetId: int32,
    }),
    updateSheetProperties: message<sheets_v4.Schema$UpdateSheetPropertiesRequest>(
      'UpdateSheetPropertiesRequest',
      { properties: types.sheetProperties, fields: text },
    ),
    appendCells: message<sheets_v4.Schema$AppendCellsRequest>('AppendCellsRequest', {
      sheetId: int32,
      rows: list(types.rowData),
      fields: text,
      tableId: text,
    }),
    updateCells: message<sheets_v4.Schema$UpdateCellsRequest>('UpdateCellsRequest', {
      start: gridCoordinate,
      rows: list(types.rowData),
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
    addProtectedRange: message<sheets_v4.Schema$AddProtectedRangeRequest>(
      'AddProtectedRangeRequest',
      { protectedRange: types.protectedRange },
    ),
    createDeveloperMetadata: message<sheets_v4.Schema$CreateDeveloperMetadataRequest>(
      'CreateDeveloperMetadataRequest',
      { developerMetadata: types.developerMetadata },
    ),
    deleteDeveloperMetadata: message<sheets_v4.Schema$DeleteDeveloperMetadataRequest>(
      'DeleteDeveloperMetadataRequest',
      { dataFilter: types.dataFilter },
    ),
  },
  'kind',
)
