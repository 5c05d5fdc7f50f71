import type { sheets_v4 } from '@googleapis/sheets'
import { badRequest } from './api-error.ts'
import type { FieldMask } from './field-mask.ts'
import type { SheetsCallKind } from './route.ts'
import { int32, list, message, opaque, text, type Kind } from './schema.ts'
import { valueRange } from './schema-bodies.ts'
import * as types from './schema-types.ts'

/** Descriptions of the answers, to check the paths of a `fields` parameter. */

const gridData = message<sheets_v4.Schema$GridData>('GridData', {
  startRow: int32,
  startColumn: int32,
  rowData: list(types.rowData),
  rowMetadata: list(types.dimensionProperties),
  columnMetadata: list(types.dimensionProperties),
})

const sheet = message<sheets_v4.Schema$Sheet>('Sheet', {
  properties: types.sheetProperties,
  data: list(gridData),
  merges: list(types.gridRange),
  conditionalFormats: opaque(),
  filterViews: opaque(),
  protectedRanges: list(types.protectedRange),
  basicFilter: types.basicFilter,
  charts: opaque(),
  bandedRanges: opaque(),
  developerMetadata: list(types.developerMetadata),
  rowGroups: opaque(),
  columnGroups: opaque(),
  slicers: opaque(),
  tables: opaque(),
  commentAnchors: opaque(),
})

export const spreadsheet = message<sheets_v4.Schema$Spreadsheet>('Spreadsheet', {
  spreadsheetId: text,
  properties: types.spreadsheetProperties,
  sheets: list(sheet),
  namedRanges: list(types.namedRange),
  spreadsheetUrl: text,
  developerMetadata: list(types.developerMetadata),
  dataSources: opaque(),
  dataSourceSchedules: opaque(),
  comments: opaque(),
  commentsViewMode: opaque(),
})

const updateAnswer = message<sheets_v4.Schema$UpdateValuesResponse>('UpdateValuesResponse', {
  spreadsheetId: text,
  updatedRange: text,
  updatedRows: int32,
  updatedColumns: int32,
  updatedCells: int32,
  updatedData: valueRange,
})

const answers: Readonly<Record<SheetsCallKind, Kind<unknown>>> = {
  create: spreadsheet,
  get: spreadsheet,
  getByDataFilter: spreadsheet,
  batchUpdate: message<sheets_v4.Schema$BatchUpdateSpreadsheetResponse>(
    'BatchUpdateSpreadsheetResponse',
    {
      spreadsheetId: text,
      replies: opaque(),
      updatedSpreadsheet: spreadsheet,
      commentUpdateState: opaque(),
    },
  ),
  copyTo: types.sheetProperties,
  'developerMetadata.get': types.developerMetadata,
  'developerMetadata.search': message<sheets_v4.Schema$SearchDeveloperMetadataResponse>(
    'SearchDeveloperMetadataResponse',
    {
      matchedDeveloperMetadata: list(
        message<sheets_v4.Schema$MatchedDeveloperMetadata>('MatchedDeveloperMetadata', {
          developerMetadata: types.developerMetadata,
          dataFilters: list(types.dataFilter),
        }),
      ),
    },
  ),
  'values.get': valueRange,
  'values.batchGet': message<sheets_v4.Schema$BatchGetValuesResponse>('BatchGetValuesResponse', {
    spreadsheetId: text,
    valueRanges: list(valueRange),
  }),
  'values.update': updateAnswer,
  'values.append': message<sheets_v4.Schema$AppendValuesResponse>('AppendValuesResponse', {
    spreadsheetId: text,
    tableRange: text,
    updates: updateAnswer,
  }),
  'values.clear': message<sheets_v4.Schema$ClearValuesResponse>('ClearValuesResponse', {
    spreadsheetId: text,
    clearedRange: text,
  }),
  'values.batchUpdate': message<sheets_v4.Schema$BatchUpdateValuesResponse>(
    'BatchUpdateValuesResponse',
    {
      spreadsheetId: text,
      totalUpdatedRows: int32,
      totalUpdatedColumns: int32,
      totalUpdatedCells: int32,
      totalUpdatedSheets: int32,
      responses: list(updateAnswer),
    },
  ),
  'values.batchClear': message<sheets_v4.Schema$BatchClearValuesResponse>(
    'BatchClearValuesResponse',
    { spreadsheetId: text, clearedRanges: list(text) },
  ),
}

/** Refuses a mask that names a field which the answer does not have. */
export function assertMaskFits(mask: FieldMask, kind: SheetsCallKind): void {
  const paths = unknownPaths(mask, answers[kind], '')
  if (paths.length === 0) return
  const violations = paths.map((path) => ({
    field: path,
    description: `Error expanding 'fields' parameter. Cannot find matching fields for path '${path}'.`,
  }))
  throw badRequest(violations, 'Request contains an invalid argument.')
}

function unknownPaths(mask: FieldMask, kind: Kind<unknown>, prefix: string): string[] {
  if (mask === 'all') return []
  return [...mask].flatMap(([name, inner]) => {
    const field = kind.field(name)
    return field ? unknownPaths(inner, field, `${prefix}${name}.`) : [prefix + name]
  })
}
