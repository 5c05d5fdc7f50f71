import type { sheets_v4 } from '@googleapis/sheets'
import { badRequest, invalidArgument, notFound, permissionDenied } from './api-error.ts'
import { findRange } from './a1.ts'
import { below, parseFieldMask, selectFields, type FieldMask } from './field-mask.ts'
import { boxOf, type Box } from './grid-range.ts'
import { findMetadata, isVisible, renderMetadata } from './metadata.ts'
import type { SheetsModel } from './model.ts'
import { renderSheetProperties, renderSpreadsheet } from './render.ts'
import { freeSheetId, insertSheet } from './requests/tabs.ts'
import type { Route } from './route.ts'
import { readMessage } from './schema.ts'
import { assertMaskFits, spreadsheet as spreadsheetAnswer } from './schema-answers.ts'
import * as bodies from './schema-bodies.ts'
import { copySheet } from './sheet.ts'
import type { Caller, Sheet, SpreadsheetState } from './state.ts'
import * as values from './values.ts'

/** A call as it reaches the API behind the door: authenticated, routed, its body parsed as JSON. */
export interface ApiCall {
  readonly route: Route
  readonly query: URLSearchParams
  readonly body: unknown
  readonly caller: Caller
}

/** Answers a call or throws an ApiError. Pure and synchronous: all state is in the model. */
export function answer(model: SheetsModel, call: ApiCall): unknown {
  const fields = call.query.get('fields') ?? call.query.get('$fields')
  if (!fields) return run(model, call, undefined)
  const mask = parseFieldMask(fields)
  assertMaskFits(mask, call.route.kind)
  return selectFields(run(model, call, mask), mask)
}

function run(model: SheetsModel, call: ApiCall, mask: FieldMask | undefined): unknown {
  const { route, body, caller } = call
  if (route.kind === 'create') return createSpreadsheet(model, body, caller)
  const spreadsheet = model.find(route.spreadsheetId)
  const role = spreadsheet.sharedWith.get(caller.email)
  if (role === undefined || (role === 'viewer' && route.access === 'write')) {
    throw permissionDenied()
  }
  switch (route.kind) {
    case 'get':
      return getSpreadsheet(spreadsheet, call, mask)
    case 'getByDataFilter':
      return getByDataFilter(spreadsheet, call, mask)
    case 'batchUpdate':
      return batchUpdate(model, spreadsheet, call, mask)
    case 'copyTo':
      return copyTo(model, spreadsheet, call)
    case 'developerMetadata.get':
      return getMetadata(spreadsheet, call)
    case 'developerMetadata.search':
      return searchMetadata(spreadsheet, call)
    case 'values.get':
    case 'values.batchGet':
      return readValues(spreadsheet, call)
    case 'values.update':
    case 'values.append':
    case 'values.clear':
    case 'values.batchUpdate':
    case 'values.batchClear':
      return writeValues(model, spreadsheet, call)
  }
}

/** Only the title and the tabs' properties of a new spreadsheet are taken over. */
function createSpreadsheet(model: SheetsModel, body: unknown, caller: Caller) {
  const given = readMessage(spreadsheetAnswer, body ?? {})
  const tabs = given.sheets ?? []
  const title = given.properties?.title
  const sharedWith = { [caller.email]: 'owner' } as const
  const sheets = tabs.length > 0 ? { sheets: [] } : {}
  const spreadsheet = model.create({ ...(title ? { title } : {}), sharedWith, ...sheets })
  if (tabs.length > 0) {
    const requests = tabs.map(({ properties = {} }) => ({ addSheet: { properties } }))
    model.batchUpdate(spreadsheet, caller, requests)
  }
  return renderSpreadsheet(spreadsheet, { caller, includeGridData: false })
}

/** A field mask decides alone about grid data: includeGridData is ignored then. */
function gridDataWanted(mask: FieldMask | undefined, asked: boolean): boolean {
  return mask === undefined ? asked : below(mask, 'sheets', 'data') !== undefined
}

function getSpreadsheet(spreadsheet: SpreadsheetState, call: ApiCall, mask: FieldMask | undefined) {
  const { query, caller } = call
  return renderSpreadsheet(spreadsheet, {
    caller,
    boxes: boxesOf(spreadsheet, query.getAll('ranges')),
    includeGridData: gridDataWanted(mask, query.get('includeGridData')?.toLowerCase() === 'true'),
  })
}

function boxesOf(
  spreadsheet: SpreadsheetState,
  specs: readonly string[],
): ReadonlyMap<Sheet, readonly Box[]> | undefined {
  if (specs.length === 0) return undefined
  const found = specs.map((spec) => findRange(spreadsheet, spec))
  return groupBoxes(found)
}

function groupBoxes(found: readonly { readonly sheet: Sheet; readonly box: Box }[]) {
  const boxes = new Map<Sheet, Box[]>()
  for (const { sheet, box } of found) boxes.set(sheet, [...(boxes.get(sheet) ?? []), box])
  return boxes
}

function getByDataFilter(
  spreadsheet: SpreadsheetState,
  call: ApiCall,
  mask: FieldMask | undefined,
) {
  const body = readMessage(bodies.getByDataFilterBody, call.body ?? {})
  const filters = body.dataFilters ?? []
  const found = filters.map(({ a1Range, gridRange }) => {
    if (a1Range) return findRange(spreadsheet, a1Range)
    const sheet = spreadsheet.sheets.find(({ sheetId }) => sheetId === (gridRange?.sheetId ?? 0))
    if (!gridRange || !sheet) throw invalidArgument('The data filter matches no range.')
    return { sheet, box: boxOf(gridRange, sheet.grid) }
  })
  return renderSpreadsheet(spreadsheet, {
    caller: call.caller,
    boxes: filters.length > 0 ? groupBoxes(found) : undefined,
    includeGridData: gridDataWanted(mask, body.includeGridData ?? false),
  })
}

function batchUpdate(
  model: SheetsModel,
  spreadsheet: SpreadsheetState,
  { body, caller }: ApiCall,
  mask: FieldMask | undefined,
): sheets_v4.Schema$BatchUpdateSpreadsheetResponse {
  const given = readMessage(bodies.batchUpdateBody, body ?? {})
  const boxes = () => boxesOf(spreadsheet, given.responseRanges ?? [])
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

function copyTo(
  model: SheetsModel,
  spreadsheet: SpreadsheetState,
  { body, caller, route }: ApiCall,
) {
  const { destinationSpreadsheetId } = readMessage(bodies.copyToBody, body ?? {})
  const source = spreadsheet.sheets.find(({ sheetId }) => sheetId === Number(route.argument))
  if (!source) throw invalidArgument(`No sheet with id: ${route.argument}`)
  const target = model.find(destinationSpreadsheetId ?? '')
  const role = target.sharedWith.get(caller.email)
  if (role === undefined || role === 'viewer') throw permissionDenied()
  const titles = new Set(target.sheets.map(({ title }) => title.toLowerCase()))
  let title = `Copy of ${source.title}`
  for (let number = 2; titles.has(title.toLowerCase()); number += 1) {
    title = `Copy of ${source.title} ${number}`
  }
  return model.transact(target, caller, (batch) => {
    const sheet = copySheet(source, freeSheetId(batch, undefined), title)
    insertSheet(batch, sheet, undefined)
    return renderSheetProperties(target, sheet)
  })
}

function getMetadata(spreadsheet: SpreadsheetState, { route, caller }: ApiCall) {
  const id = Number(route.argument)
  if (!Number.isInteger(id)) {
    const description = `Invalid value at 'metadata_id' (TYPE_INT32), "${route.argument}"`
    throw badRequest([{ field: 'metadata_id', description }])
  }
  const metadata = spreadsheet.metadata.get(id)
  if (!metadata || !isVisible(metadata, caller)) {
    throw notFound(`No developer metadata with ID ${id}`)
  }
  return renderMetadata(metadata)
}

function searchMetadata(
  spreadsheet: SpreadsheetState,
  { body, caller }: ApiCall,
): sheets_v4.Schema$SearchDeveloperMetadataResponse {
  const { dataFilters = [] } = readMessage(bodies.searchMetadataBody, body ?? {})
  const found = findMetadata(spreadsheet, dataFilters, caller)
  if (found.length === 0) return {}
  const matchedDeveloperMetadata = found.map((metadata) => ({
    developerMetadata: renderMetadata(metadata),
    dataFilters: dataFilters.filter((filter) =>
      findMetadata(spreadsheet, [filter], caller).includes(metadata),
    ),
  }))
  return { matchedDeveloperMetadata }
}

function readOptions(query: URLSearchParams): values.ReadOptions {
  const { enumParameter } = values
  enumParameter(query, 'dateTimeRenderOption', 'DateTimeRenderOption', dateTimeOptions)
  return {
    majorDimension: enumParameter(query, 'majorDimension', 'Dimension', ['ROWS', 'COLUMNS']),
    valueRenderOption: enumParameter(
      query,
      'valueRenderOption',
      'ValueRenderOption',
      valueRenderOptions,
    ),
  }
}

const valueRenderOptions = ['FORMATTED_VALUE', 'UNFORMATTED_VALUE', 'FORMULA']
const dateTimeOptions = ['SERIAL_NUMBER', 'FORMATTED_STRING']

function readValues(spreadsheet: SpreadsheetState, { route, query }: ApiCall) {
  const options = readOptions(query)
  if (route.kind === 'values.get') return values.readValues(spreadsheet, route.argument, options)
  const ranges = query.getAll('ranges')
  return {
    spreadsheetId: spreadsheet.id,
    valueRanges: ranges.map((range) => values.readValues(spreadsheet, range, options)),
  }
}

function writeValues(
  model: SheetsModel,
  spreadsheet: SpreadsheetState,
  { route, query, body, caller }: ApiCall,
): unknown {
  const options = {
    valueInputOption: values.enumParameter(query, 'valueInputOption', 'ValueInputOption', [
      'RAW',
      'USER_ENTERED',
    ]),
    includeValuesInResponse: query.get('includeValuesInResponse')?.toLowerCase() === 'true',
    responseValueRenderOption: query.get('responseValueRenderOption'),
    insertDataOption: query.get('insertDataOption') ?? undefined,
  }
  return model.transact(spreadsheet, caller, (batch) => {
    switch (route.kind) {
      case 'values.update': {
        const given = readMessage(bodies.valueRange, body ?? {}, 'data')
        return values.updateValues(batch, route.argument, given, options)
      }
      case 'values.append': {
        const given = readMessage(bodies.valueRange, body ?? {}, 'data')
        return values.appendValues(batch, route.argument, given, options)
      }
      case 'values.clear': {
        const clearedRange = values.clearValues(batch, route.argument)
        return { spreadsheetId: spreadsheet.id, clearedRange }
      }
      case 'values.batchClear': {
        const { ranges } = readMessage(bodies.batchClearValuesBody, body ?? {})
        const clearedRanges = (ranges ?? []).map((range) => values.clearValues(batch, range))
        return { spreadsheetId: spreadsheet.id, clearedRanges }
      }
      default:
        return values.batchUpdateValues(
          batch,
          readMessage(bodies.batchUpdateValuesBody, body ?? {}),
        )
    }
  })
}
