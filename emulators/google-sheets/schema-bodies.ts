import type { sheets_v4 } from '@googleapis/sheets'
import { bool, list, listValue, message, oneOf, text, type Kind } from './schema.ts'
import { request } from './schema-requests.ts'
import { dataFilter, dimension } from './schema-types.ts'

/** Descriptions of the bodies of calls. */

const inputOption = oneOf(
  'ValueInputOption',
  'INPUT_VALUE_OPTION_UNSPECIFIED',
  'RAW',
  'USER_ENTERED',
)
const renderOption = oneOf('ValueRenderOption', 'FORMATTED_VALUE', 'UNFORMATTED_VALUE', 'FORMULA')
const dateTimeOption = oneOf('DateTimeRenderOption', 'SERIAL_NUMBER', 'FORMATTED_STRING')
export const batchUpdateBody = message<sheets_v4.Schema$BatchUpdateSpreadsheetRequest>(
  'BatchUpdateSpreadsheetRequest',
  {
    requests: list(request),
    includeSpreadsheetInResponse: bool,
    responseRanges: list(text),
    responseIncludeGridData: bool,
    commentsViewMode: text,
  },
)

export const valueRange: Kind<sheets_v4.Schema$ValueRange> = message('ValueRange', {
  range: text,
  majorDimension: dimension,
  values: list(listValue),
})

export const batchUpdateValuesBody = message<sheets_v4.Schema$BatchUpdateValuesRequest>(
  'BatchUpdateValuesRequest',
  {
    valueInputOption: inputOption,
    data: list(valueRange),
    includeValuesInResponse: bool,
    responseValueRenderOption: renderOption,
    responseDateTimeRenderOption: dateTimeOption,
  },
)

export const batchClearValuesBody = message<sheets_v4.Schema$BatchClearValuesRequest>(
  'BatchClearValuesRequest',
  { ranges: list(text) },
)

export const searchMetadataBody = message<sheets_v4.Schema$SearchDeveloperMetadataRequest>(
  'SearchDeveloperMetadataRequest',
  { dataFilters: list(dataFilter) },
)

export const getByDataFilterBody = message<sheets_v4.Schema$GetSpreadsheetByDataFilterRequest>(
  'GetSpreadsheetByDataFilterRequest',
  {
    dataFilters: list(dataFilter),
    includeGridData: bool,
    excludeTablesInBandedRanges: bool,
    commentsViewMode: text,
  },
)

export const copyToBody = message<sheets_v4.Schema$CopySheetToAnotherSpreadsheetRequest>(
  'CopySheetToAnotherSpreadsheetRequest',
  { destinationSpreadsheetId: text },
)
