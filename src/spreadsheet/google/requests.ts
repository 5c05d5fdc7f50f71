import type { TabSignups } from '../../signup/batch.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Cell, headingsOf, type OwnColumn, toRow } from '../../signup/row.ts'
import { arrange, type Header } from '../header.ts'
import { markerKey } from './markers.ts'
import type { Place } from './place.ts'

/** Where the rows of one tab go, and what the same call must prepare for them. */
export interface TabPlan {
  readonly rows: TabSignups
  readonly sheetId: number
  readonly place: Place
  readonly prepare:
    | { readonly kind: 'new sheet' }
    /** The existing sheet gets the columns that it lacks, and the header row when it is empty. */
    | {
        readonly kind: 'existing sheet'
        readonly missingColumns: number
        readonly isEmpty: boolean
      }
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
 * The requests that apply a batch. The marker comes first: Google refuses an id that exists, and
 * all requests of one call are applied together or not at all.
 */
export async function batchRequests(
  marker: number,
  markerValue: string,
  plans: readonly TabPlan[],
  own: readonly OwnColumn[],
  clock: Clock,
): Promise<readonly TabRequest[]> {
  const requests: TabRequest[] = [{ tab: undefined, request: [createMarker(marker, markerValue)] }]
  for (const plan of plans) {
    const { tab } = plan.rows
    for (const request of preparations(plan, own))
      requests.push({ tab, request: [JSON.stringify(request)] })
    requests.push({ tab, request: await appendRows(plan, own, clock) })
  }
  return requests
}

export function createMarker(metadataId: number, metadataValue: string): string {
  return JSON.stringify({
    createDeveloperMetadata: {
      developerMetadata: {
        metadataId,
        metadataKey: markerKey,
        metadataValue,
        visibility: 'DOCUMENT',
        location: { spreadsheet: true },
      },
    },
  })
}

export function deleteMarker(metadataId: number): string {
  return JSON.stringify({
    deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: { metadataId } } },
  })
}

/** The requests that prepare a tab for its rows. */
function preparations(
  { rows, sheetId, place, prepare }: TabPlan,
  own: readonly OwnColumn[],
): Record<string, unknown>[] {
  const { added } = place.header
  switch (prepare.kind) {
    case 'new sheet':
      return [addSheet(sheetId, rows.tab, headingsOf(own).length)]
    case 'existing sheet':
      return [
        ...(prepare.missingColumns > 0 ? [addColumns(sheetId, prepare.missingColumns)] : []),
        ...(added ? [addHeadings(sheetId, added)] : []),
        ...(prepare.isEmpty ? [freezeHeader(sheetId)] : []),
      ]
  }
}

function addSheet(sheetId: number, title: string, columnCount: number): Record<string, unknown> {
  return {
    addSheet: {
      properties: {
        sheetId,
        title,
        gridProperties: {
          rowCount: newSheetRows,
          columnCount,
          frozenRowCount: 1,
        },
      },
    },
  }
}

function addColumns(sheetId: number, length: number): Record<string, unknown> {
  return { appendDimension: { sheetId, dimension: 'COLUMNS', length } }
}

/** Writes headings into the first row. */
function addHeadings(
  sheetId: number,
  { column, headings }: NonNullable<Header['added']>,
): Record<string, unknown> {
  return {
    updateCells: {
      start: { sheetId, rowIndex: 0, columnIndex: column },
      rows: [headerRow(headings)],
      fields: headerFields,
    },
  }
}

function freezeHeader(sheetId: number): Record<string, unknown> {
  return {
    updateSheetProperties: {
      properties: { sheetId, gridProperties: { frozenRowCount: 1 } },
      fields: 'gridProperties.frozenRowCount',
    },
  }
}

/**
 * One request for all rows of a tab and its header row, because Google does not document the order of
 * two appends. It is written as text, which needs no objects for five thousand rows, and with pauses
 * in which other work runs.
 */
async function appendRows(
  plan: TabPlan,
  own: readonly OwnColumn[],
  clock: Clock,
): Promise<readonly string[]> {
  const { sheetId, rows, place } = plan
  const { tab, signups } = rows
  const hasHeader = isEmpty(plan)
  const table = place.table ? `"tableId":${JSON.stringify(place.table.tableId)},` : ''
  const pieces = [`{"appendCells":{"sheetId":${sheetId},${table}"rows":[`]
  if (hasHeader) pieces.push(`${JSON.stringify(headerRow(headingsOf(own)))},`)
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
  const fields = hasHeader ? headerFields : 'userEnteredValue'
  pieces.push(`],"fields":"${fields}"}}`)
  return pieces
}

/** Whether the tab gets its header row. */
function isEmpty({ prepare }: TabPlan): boolean {
  return prepare.kind === 'new sheet' || prepare.isEmpty
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
