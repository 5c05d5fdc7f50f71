import type { TabSignups } from '../../signup/batch.ts'
import { columns, toRow } from '../../signup/row.ts'
import { markerKey } from './markers.ts'

/** Where the rows of one tab go, and what has to be prepared for them in the same call. */
export interface TabPlan {
  readonly rows: TabSignups
  readonly sheetId: number
  readonly prepare:
    | { readonly kind: 'nothing' }
    | { readonly kind: 'new sheet' }
    /** An existing sheet: give it columns up to seven, and the header row when it is empty. */
    | {
        readonly kind: 'existing sheet'
        readonly missingColumns: number
        readonly isEmpty: boolean
      }
}

/** A request of a batchUpdate, and the tab that it serves. */
export interface TabRequest {
  readonly tab: string | undefined
  readonly request: Record<string, unknown>
}

/** Room for a thousand rows, as a sheet made by hand has; appendCells adds more when needed. */
const newSheetRows = 1000

/**
 * The requests that apply a batch. The marker comes first: Google refuses an id that exists, and
 * all requests of one call are applied together or not at all.
 */
export function batchRequests(
  marker: number,
  markerValue: string,
  plans: readonly TabPlan[],
): readonly TabRequest[] {
  return [
    { tab: undefined, request: createMarker(marker, markerValue) },
    ...plans.flatMap((plan) =>
      tabRequests(plan).map((request) => ({ tab: plan.rows.tab, request })),
    ),
  ]
}

export function createMarker(metadataId: number, metadataValue: string): Record<string, unknown> {
  return {
    createDeveloperMetadata: {
      developerMetadata: {
        metadataId,
        metadataKey: markerKey,
        metadataValue,
        visibility: 'DOCUMENT',
        location: { spreadsheet: true },
      },
    },
  }
}

export function deleteMarker(metadataId: number): Record<string, unknown> {
  return { deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: { metadataId } } } }
}

function tabRequests({ rows, sheetId, prepare }: TabPlan): Record<string, unknown>[] {
  const append = appendRows(sheetId, rows)
  switch (prepare.kind) {
    case 'nothing':
      return [append]
    case 'new sheet':
      return [addSheet(sheetId, rows.tab), appendHeader(sheetId), append]
    case 'existing sheet':
      return [
        ...(prepare.missingColumns > 0 ? [addColumns(sheetId, prepare.missingColumns)] : []),
        ...(prepare.isEmpty ? [appendHeader(sheetId), freezeHeader(sheetId)] : []),
        append,
      ]
  }
}

function addSheet(sheetId: number, title: string): Record<string, unknown> {
  return {
    addSheet: {
      properties: {
        sheetId,
        title,
        gridProperties: {
          rowCount: newSheetRows,
          columnCount: columns.length,
          frozenRowCount: 1,
        },
      },
    },
  }
}

function addColumns(sheetId: number, length: number): Record<string, unknown> {
  return { appendDimension: { sheetId, dimension: 'COLUMNS', length } }
}

function freezeHeader(sheetId: number): Record<string, unknown> {
  return {
    updateSheetProperties: {
      properties: { sheetId, gridProperties: { frozenRowCount: 1 } },
      fields: 'gridProperties.frozenRowCount',
    },
  }
}

function appendHeader(sheetId: number): Record<string, unknown> {
  const values = columns.map((stringValue) => ({
    userEnteredValue: { stringValue },
    userEnteredFormat: { textFormat: { bold: true } },
  }))
  return {
    appendCells: {
      sheetId,
      rows: [{ values }],
      fields: 'userEnteredValue,userEnteredFormat.textFormat.bold',
    },
  }
}

/** stringValue is stored as it is: never a formula, a number or a date. */
function appendRows(sheetId: number, { tab, signups }: TabSignups): Record<string, unknown> {
  const rows = signups.map((signup) => ({
    values: toRow(signup, tab).map((stringValue) =>
      stringValue === '' ? {} : { userEnteredValue: { stringValue } },
    ),
  }))
  return { appendCells: { sheetId, rows, fields: 'userEnteredValue' } }
}
