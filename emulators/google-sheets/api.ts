import type { sheets_v4 } from '@googleapis/sheets'
import { badRequest, invalidArgument, notFound, permissionDenied } from './api-error.ts'
import { findRange } from './a1.ts'
import { below, parseFieldMask, selectFields, type FieldMask } from './field-mask.ts'
import type { Box } from './grid-range.ts'
import type { SheetsModel } from './model.ts'
import { isMatch, renderMetadata } from './metadata.ts'
import { renderSpreadsheet } from './render.ts'
import type { Route } from './route.ts'
import { readMessage } from './schema.ts'
import { assertMaskFits } from './schema-answers.ts'
import { batchUpdateBody, searchMetadataBody } from './schema-requests.ts'
import type { Caller, Sheet, SpreadsheetState } from './state.ts'

/** A call that was authenticated and routed, with its body parsed as JSON. */
export interface ApiCall {
  readonly route: Route
  readonly query: URLSearchParams
  readonly body: unknown
  readonly caller: Caller
}

/** Answers a call or throws an ApiError. Synchronous: the model has all state. */
export function answer(model: SheetsModel, call: ApiCall): unknown {
  const fields = call.query.get('fields')
  if (!fields) return run(model, call, undefined)
  const mask = parseFieldMask(fields)
  assertMaskFits(mask, call.route.kind)
  return selectFields(run(model, call, mask), mask)
}

function run(model: SheetsModel, call: ApiCall, mask: FieldMask | undefined): unknown {
  const { route, caller } = call
  const spreadsheet = model.find(route.spreadsheetId)
  const role = spreadsheet.sharedWith.get(caller.email)
  if (role === undefined || (role === 'viewer' && route.access === 'write')) {
    throw permissionDenied()
  }
  switch (route.kind) {
    case 'get':
      return getSpreadsheet(model, spreadsheet, call, mask)
    case 'batchUpdate':
      return batchUpdate(model, spreadsheet, call, mask)
    case 'developerMetadata.get':
      return getMetadata(spreadsheet, call)
    case 'developerMetadata.search':
      return searchMetadata(spreadsheet, call)
  }
}

/** With a field mask, Google ignores includeGridData. */
function gridDataWanted(mask: FieldMask | undefined, asked: boolean): boolean {
  return mask === undefined ? asked : below(mask, 'sheets', 'data') !== undefined
}

function getSpreadsheet(
  model: SheetsModel,
  spreadsheet: SpreadsheetState,
  call: ApiCall,
  mask: FieldMask | undefined,
) {
  const { query, caller } = call
  return renderSpreadsheet(spreadsheet, {
    caller,
    boxes: boxesOf(model, spreadsheet, query.getAll('ranges')),
    includeGridData: gridDataWanted(mask, query.get('includeGridData')?.toLowerCase() === 'true'),
  })
}

function boxesOf(
  { options }: SheetsModel,
  spreadsheet: SpreadsheetState,
  specs: readonly string[],
): ReadonlyMap<Sheet, readonly Box[]> | undefined {
  if (specs.length === 0) return undefined
  const boxes = new Map<Sheet, Box[]>()
  for (const spec of specs) {
    const { sheet, box } = findRange(spreadsheet, spec)
    if (options.unreadableTitles.includes(sheet.title)) {
      throw invalidArgument(`Unable to parse range: ${spec}`)
    }
    boxes.set(sheet, [...(boxes.get(sheet) ?? []), box])
  }
  return boxes
}

function batchUpdate(
  model: SheetsModel,
  spreadsheet: SpreadsheetState,
  { body, caller }: ApiCall,
  mask: FieldMask | undefined,
): sheets_v4.Schema$BatchUpdateSpreadsheetResponse {
  const given = readMessage(batchUpdateBody, body ?? {})
  const boxes = () => boxesOf(model, spreadsheet, given.responseRanges ?? [])
  const check = model.options.unknownRanges === 'refuse' ? boxes : undefined
  const replies = model.batchUpdate(spreadsheet, caller, given.requests ?? [], check)
  const answer = { spreadsheetId: spreadsheet.id, replies }
  const viewMask = mask && below(mask, 'updatedSpreadsheet')
  if (!given.includeSpreadsheetInResponse || (mask && !viewMask)) return answer
  const updatedSpreadsheet = renderSpreadsheet(spreadsheet, {
    caller,
    boxes: boxes(),
    includeGridData: gridDataWanted(viewMask, given.responseIncludeGridData ?? false),
  })
  return { ...answer, updatedSpreadsheet }
}

function getMetadata(spreadsheet: SpreadsheetState, { route }: ApiCall) {
  const id = Number(route.argument)
  if (!Number.isInteger(id)) {
    const description = `Invalid value at 'metadata_id' (TYPE_INT32), "${route.argument}"`
    throw badRequest([{ field: 'metadata_id', description }])
  }
  const metadata = spreadsheet.metadata.get(id)
  if (!metadata) throw notFound(`No developer metadata with ID ${id}`)
  return renderMetadata(metadata)
}

function searchMetadata(
  spreadsheet: SpreadsheetState,
  { body }: ApiCall,
): sheets_v4.Schema$SearchDeveloperMetadataResponse {
  const { dataFilters = [] } = readMessage(searchMetadataBody, body ?? {})
  const matches = [...spreadsheet.metadata.values()].flatMap((metadata) => {
    const matched = dataFilters.filter((filter) => isMatch(metadata, filter))
    const match = { developerMetadata: renderMetadata(metadata), dataFilters: matched }
    return matched.length > 0 ? [match] : []
  })
  return matches.length > 0 ? { matchedDeveloperMetadata: matches } : {}
}
