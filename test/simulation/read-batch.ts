import type { sheets_v4 } from '@googleapis/sheets'
import type { OutgoingRequest } from '../../src/platform/http-client.ts'
import { addressEnd } from './make-signup.ts'

export interface SentRow {
  readonly email: string
  readonly sheetId: number
}

/** The content of a `batchUpdate` of ours, read from its body with Google's own types. */
export interface SentBatch {
  /** Id and value of the marker that it creates, which has to be its first request. */
  readonly marker: number | undefined
  readonly markerValue: string
  readonly rows: readonly SentRow[]
  /** The bytes of its rows in the request, header rows left out. */
  readonly rowBytes: () => number
  /** Markers that it deletes. */
  readonly pruned: readonly number[]
}

/** The whole body of a request. */
export function textOf({ body = '' }: OutgoingRequest): string {
  return typeof body === 'string' ? body : body.join('')
}

export function readBatch(body: unknown): SentBatch {
  const { requests = [] } = (body ?? {}) as sheets_v4.Schema$BatchUpdateSpreadsheetRequest
  const created = requests[0]?.createDeveloperMetadata?.developerMetadata
  return {
    marker: created?.metadataId ?? undefined,
    markerValue: created?.metadataValue ?? '',
    rows: requests.flatMap(({ appendCells }) => rowsOf(appendCells)),
    rowBytes: () =>
      requests
        .flatMap(({ appendCells }) => appendCells?.rows ?? [])
        .map((row) => JSON.stringify(row))
        .reduce((sum, row) => sum + (row.includes(addressEnd) ? Buffer.byteLength(row) : 0), 0),
    pruned: requests.flatMap(
      ({ deleteDeveloperMetadata }) =>
        deleteDeveloperMetadata?.dataFilter?.developerMetadataLookup?.metadataId ?? [],
    ),
  }
}

function rowsOf(request: sheets_v4.Schema$AppendCellsRequest | undefined): SentRow[] {
  return (request?.rows ?? []).flatMap(({ values = [] }) => {
    const texts = values.map((cell) => cell.userEnteredValue?.stringValue ?? '')
    const email = texts.find((text) => text.endsWith(addressEnd))
    return email === undefined ? [] : [{ email, sheetId: request?.sheetId ?? 0 }]
  })
}
