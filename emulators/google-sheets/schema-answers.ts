import type { sheets_v4 } from '@googleapis/sheets'
import { badRequest } from './api-error.ts'
import type { FieldMask } from './field-mask.ts'
import type { SheetsCallKind } from './route.ts'
import { int32, list, message, opaque, text, type Kind } from './schema.ts'
import * as types from './schema-requests.ts'

/** The messages of answers, to check the paths of a `fields` parameter. */

const table = message<sheets_v4.Schema$Table>('Table', {
  tableId: text,
  name: text,
  range: types.gridRange,
  columnProperties: list(
    message<sheets_v4.Schema$TableColumnProperties>('TableColumnProperties', {
      columnIndex: int32,
      columnName: text,
      columnType: text,
    }),
  ),
})

const spreadsheetProperties = message<sheets_v4.Schema$SpreadsheetProperties>(
  'SpreadsheetProperties',
  { title: text, locale: text, autoRecalc: text, timeZone: text },
)

const sheet = message<sheets_v4.Schema$Sheet>('Sheet', {
  properties: message<sheets_v4.Schema$SheetProperties>('SheetProperties', {
    ...types.sheetPropertyFields,
    index: int32,
  }),
  data: list(
    message<sheets_v4.Schema$GridData>('GridData', {
      startRow: int32,
      startColumn: int32,
      rowData: list(types.rowData),
    }),
  ),
  protectedRanges: list(types.protectedRange),
  tables: list(table),
})

const spreadsheet = message<sheets_v4.Schema$Spreadsheet>('Spreadsheet', {
  spreadsheetId: text,
  properties: spreadsheetProperties,
  sheets: list(sheet),
  spreadsheetUrl: text,
  developerMetadata: list(types.developerMetadata),
})

const answers: Readonly<Record<SheetsCallKind, Kind<unknown>>> = {
  get: spreadsheet,
  batchUpdate: message<sheets_v4.Schema$BatchUpdateSpreadsheetResponse>(
    'BatchUpdateSpreadsheetResponse',
    { spreadsheetId: text, replies: opaque(), updatedSpreadsheet: spreadsheet },
  ),
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
}

/** Throws when a mask names a field that the answer does not have. */
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
