import type { sheets_v4 } from '@googleapis/sheets'
import { bool, list, message, text } from './schema.ts'
import { request } from './schema-requests.ts'
import { dataFilter } from './schema-types.ts'

/** Descriptions of the bodies of calls. */

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
