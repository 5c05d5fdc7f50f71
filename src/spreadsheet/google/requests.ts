import type { TabSignups } from '../../signup/batch.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Cell, headingsOf, type OwnColumn, toRow } from '../../signup/row.ts'
import { arrange } from '../header.ts'
import type { Place } from './place.ts'

/** Where the rows of one tab go, and what the same call must prepare for them. */
export interface TabPlan {
  readonly rows: TabSignups
  readonly sheetId: number
  readonly place: Place
  readonly isNew: boolean
  /** How many columns an existing sheet lacks. */
  readonly missingColumns: number
  /** Whether the sheet gets the header row. */
  readonly isEmpty: boolean
}

/** A request of a batchUpdate as JSON, in pieces where it is large, and the tab that it serves. */
export interface TabRequest {
  readonly tab: string | undefined
  readonly request: readonly string[]
}

/** How many rows are made into JSON without a pause. They take a quarter of a millisecond. */
const sliceRows = 100

/** The rows of a new sheet, as in a sheet made by hand. appendCells adds more when needed. */
export const newSheetRows = 1000

/**
 * The requests that apply a batch. The request for the marker comes first: Google refuses an id that exists, and
 * all requests of one call are applied together or not at all.
 */
export async function batchRequests(
  marker: string,
  plans: readonly TabPlan[],
  own: readonly OwnColumn[],
  clock: Clock,
): Promise<readonly TabRequest[]> {
  const requests: TabRequest[] = [{ tab: undefined, request: [marker] }]
  for (const plan of plans) {
    const { tab } = plan.rows
    for (const request of preparations(plan, own))
      requests.push({ tab, request: [JSON.stringify(request)] })
    requests.push({ tab, request: await appendRows(plan, own, clock) })
  }
  return requests
}

/** What developer metadata of ours has. Google gives an id to one that has none. */
interface Metadata {
  readonly metadataId?: number
  readonly metadataKey: string
  readonly metadataValue?: string
}

export function createMetadata(metadata: Metadata): string {
  const developerMetadata = { ...metadata, visibility: 'DOCUMENT', location: { spreadsheet: true } }
  return JSON.stringify({ createDeveloperMetadata: { developerMetadata } })
}

export function deleteMetadata(lookup: Partial<Metadata>): string {
  return JSON.stringify({
    deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: lookup } },
  })
}

function preparations(plan: TabPlan, own: readonly OwnColumn[]): readonly object[] {
  const { rows, sheetId, place, isNew, missingColumns, isEmpty } = plan
  const frozen = { frozenRowCount: 1 }
  if (isNew) {
    const columnCount = headingsOf(own).length
    const gridProperties = { rowCount: newSheetRows, columnCount, ...frozen }
    return [{ addSheet: { properties: { sheetId, title: rows.tab, gridProperties } } }]
  }
  const requests: object[] = []
  if (missingColumns > 0) {
    requests.push({ appendDimension: { sheetId, dimension: 'COLUMNS', length: missingColumns } })
  }
  const { added } = place.header
  if (added) {
    const start = { sheetId, rowIndex: 0, columnIndex: added.column }
    const headings = [headerRow(added.headings)]
    requests.push({ updateCells: { start, rows: headings, fields: headerFields } })
  }
  if (isEmpty) {
    const properties = { sheetId, gridProperties: frozen }
    const fields = 'gridProperties.frozenRowCount'
    requests.push({ updateSheetProperties: { properties, fields } })
  }
  return requests
}

/**
 * One request for all rows of a tab and its header row, because Google does not document the order of
 * two appends. It is written as text, which needs no objects for five thousand rows, and with pauses
 * in which other work runs.
 */
async function appendRows(
  { sheetId, rows: { tab, signups }, place, isEmpty }: TabPlan,
  own: readonly OwnColumn[],
  clock: Clock,
): Promise<readonly string[]> {
  const table = place.table ? `"tableId":${JSON.stringify(place.table.tableId)},` : ''
  const pieces = [`{"appendCells":{"sheetId":${sheetId},${table}"rows":[`]
  if (isEmpty) pieces.push(`${JSON.stringify(headerRow(headingsOf(own)))},`)
  for (let at = 0; at < signups.length; at += sliceRows) {
    if (at > 0) await clock.sleep(0)
    const slice = signups.slice(at, at + sliceRows)
    const separator = at > 0 ? ',' : ''
    const texts = slice.map((signup) =>
      rowJson(arrange(toRow(signup, tab, own), place.header, own)),
    )
    pieces.push(separator + texts.join(','))
  }
  // A named format is cleared in cells without it, so name it only when all cells are new.
  const fields = isEmpty ? headerFields : 'userEnteredValue'
  pieces.push(`],"fields":"${fields}"}}`)
  return pieces
}

const headerFields = 'userEnteredValue,userEnteredFormat.textFormat.bold'

function headerRow(headings: readonly string[]): object {
  const userEnteredFormat = { textFormat: { bold: true } }
  return {
    values: headings.map((stringValue) => ({
      userEnteredValue: { stringValue },
      userEnteredFormat,
    })),
  }
}

function rowJson(row: readonly Cell[]): string {
  return `{"values":[${row.map(cellJson).join(',')}]}`
}

/** The JSON of a cell. A stringValue is stored as text: never a formula, a number or a date. */
function cellJson(cell: Cell): string {
  if (cell === '') return '{}'
  const kind = valueKinds[typeof cell as keyof typeof valueKinds]
  return `{"userEnteredValue":{"${kind}":${JSON.stringify(cell)}}}`
}

const valueKinds = { string: 'stringValue', number: 'numberValue', boolean: 'boolValue' } as const
