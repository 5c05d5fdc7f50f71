/**
 * A minimal stand-in for Google's token endpoint, for the calls of the Sheets API that Rollcall makes,
 * and for a challenge provider. The emulators are too slow here: they check, keep and log everything.
 * DELAY_MS delays each answer. IS_DOWN=1 refuses every call. GET /rows answers with the number of rows
 * and calls so far.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { columns } from '../../src/signup/row.ts'
import { serve } from './serve.ts'

const delayMs = Number(process.env['DELAY_MS'] ?? 0)
const isDown = process.env['IS_DOWN'] === '1'

let rows = 0
let calls = 0
/** The values of the markers in the spreadsheet, by id. */
const markers = new Map<number, string>()

interface Marker {
  readonly metadataId: number
  readonly metadataValue: string
}

interface UpdateRequest {
  readonly createDeveloperMetadata?: { developerMetadata: Marker }
  readonly deleteDeveloperMetadata?: {
    dataFilter: { developerMetadataLookup: { metadataId: number } }
  }
}

const properties = {
  sheetId: 0,
  title: 'Sheet1',
  gridProperties: { rowCount: 1000, columnCount: 26 },
}
const header = columns.map((formattedValue) => ({ formattedValue }))
const spreadsheet = { sheets: [{ properties, data: [{ rowData: [{ values: header }] }] }] }

const server = createServer((request, response) => {
  void (async () => {
    const { status, body } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })()
})
serve(server)

async function answer(request: IncomingMessage): Promise<Answer> {
  const url = request.url ?? '/'
  const body = await text(request)
  if (url === '/rows') return { status: 200, body: { rows, calls } }
  if (delayMs > 0) await sleep(delayMs)
  if (url === '/token') return { status: 200, body: { access_token: 'token', expires_in: 3600 } }
  if (url === '/siteverify') {
    return { status: 200, body: { success: true, hostname: 'localhost', 'error-codes': [] } }
  }
  calls += 1
  const unavailable = { code: 503, message: 'The service is down.', status: 'UNAVAILABLE' }
  if (isDown) return { status: 503, body: { error: unavailable } }
  return sheetsAnswer(url, body)
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

function sheetsAnswer(url: string, body: string): Answer {
  if (url.includes(':batchUpdate')) return update(body)
  if (url.includes('developerMetadata:search')) {
    const found = [...markers.keys()].map((metadataId) => ({ developerMetadata: { metadataId } }))
    return ok({ matchedDeveloperMetadata: found })
  }
  const marker = /developerMetadata\/(\d+)/.exec(url)?.[1]
  return ok(marker === undefined ? spreadsheet : { metadataValue: markers.get(Number(marker)) })
}

interface Update {
  readonly requests: readonly UpdateRequest[]
}

function ok(body: unknown): Answer {
  return { status: 200, body }
}

/** Applies a batch, or refuses all of it when its marker exists, as Google does. */
function update(body: string): Answer {
  const { text, count } = withoutRows(body)
  const { requests } = JSON.parse(text) as Update
  const marker = requests[0]?.createDeveloperMetadata?.developerMetadata.metadataId
  if (marker === undefined || !markers.has(marker)) {
    rows += count
    return ok({ replies: requests.map(apply), updatedSpreadsheet: spreadsheet })
  }
  const reason = `developer metadata with ID [${marker}] because developer metadata with that ID already exists.`
  const message = `Invalid requests[0].createDeveloperMetadata: Cannot add ${reason}`
  return { status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } }
}

/** Counts the rows instead of parsing them, because the load runs on the same core. */
function withoutRows(body: string): { text: string; count: number } {
  const [before = '', ...lists] = body.split('"rows":[')
  const ends = lists.map((list) => list.slice(list.lastIndexOf('],"fields"')))
  const count = lists.reduce((sum, list) => sum + list.split('{"values":').length - 1, 0)
  return { text: [before, ...ends].join('"rows":['), count }
}

function apply(request: UpdateRequest): unknown {
  const { createDeveloperMetadata, deleteDeveloperMetadata } = request
  if (createDeveloperMetadata) {
    const { metadataId, metadataValue } = createDeveloperMetadata.developerMetadata
    markers.set(metadataId, metadataValue)
    return { createDeveloperMetadata }
  }
  if (!deleteDeveloperMetadata) return {}
  const { metadataId } = deleteDeveloperMetadata.dataFilter.developerMetadataLookup
  markers.delete(metadataId)
  return {
    deleteDeveloperMetadata: { deletedDeveloperMetadata: [{ metadataId }] },
  }
}
