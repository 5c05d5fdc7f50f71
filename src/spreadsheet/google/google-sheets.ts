import type { Clock, Random } from '../../platform/clock.ts'
import type { HttpClient } from '../../platform/http-client.ts'
import type { FrozenBatch } from '../../signup/batch.ts'
import type {
  Abandoned,
  Applied,
  CallGate,
  Foreign,
  GivenUp,
  Opened,
  Outcome,
  Pruned,
  Refused,
  Retryable,
  Spreadsheet,
} from '../spreadsheet.ts'
import { AccessTokens } from './access-token.ts'
import { isAlreadyThere, isStaleLayout, requestIndex } from './batch-errors.ts'
import type { Account } from './failure.ts'
import { Layout } from './layout.ts'
import { abandonedValue, createdMarker, deletedMarkers, markerKey, markerValue } from './markers.ts'
import { batchRequests, createMarker, deleteMarker } from './requests.ts'
import { isRecord, sheetFields } from './sheets.ts'
import type { SignAssertion } from './sign-assertion.ts'
import { type ApiFailure, type ApiResult, SheetsApi } from './sheets-api.ts'

export interface GoogleSheetsOptions {
  readonly account: Account
  readonly sign: SignAssertion
  readonly apiUrl: string
  readonly tokenUrl: string
  readonly http: HttpClient
  readonly clock: Clock
  readonly random: Random
  /** Awaited before every call to the Sheets API (token requests do not count). */
  readonly gate: CallGate
}

/** A spreadsheet in Google Sheets, written through a service account. */
export function createGoogleSheets(options: GoogleSheetsOptions): Spreadsheet {
  const { account, sign, apiUrl, tokenUrl, http, clock, gate, random } = options
  const tokens = new AccessTokens({ email: account.email, sign, tokenUrl, http, clock })
  const api = new SheetsApi({ apiUrl, account, http, tokens, gate })
  return new GoogleSheets(account.spreadsheetId, api, new Layout(api, clock, random), clock)
}

/**
 * The fence: every batch creates a marker of its own in the same atomic call as its rows. Google
 * refuses a marker id that exists, so a batch that is sent again, or arrives late, changes nothing.
 */
class GoogleSheets implements Spreadsheet {
  readonly location: string
  readonly #spreadsheetId: string
  readonly #api: SheetsApi
  readonly #layout: Layout
  readonly #clock: Clock

  constructor(spreadsheetId: string, api: SheetsApi, layout: Layout, clock: Clock) {
    this.location = `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`
    this.#spreadsheetId = spreadsheetId
    this.#api = api
    this.#layout = layout
    this.#clock = clock
  }

  get warnings(): readonly string[] {
    return this.#layout.warnings
  }

  async open(signal: AbortSignal): Promise<Opened> {
    const loaded = await this.#layout.load(signal)
    return loaded.kind === 'ok' ? { kind: 'open' } : notSent(loaded)
  }

  async write(batch: FrozenBatch, signal: AbortSignal): Promise<Outcome> {
    const plan = await this.#layout.plan(batch.tabs, signal)
    if (plan.kind !== 'plan') return notSent(plan)
    const value = markerValue(batch, this.#spreadsheetId)
    const requests = await batchRequests(batch.marker, value, plan.tabs, this.#clock)
    const result = await this.#updateWithMarker(
      batch.marker,
      requests.map(({ request }) => request),
      signal,
    )
    if (result.kind === 'ok') {
      this.#layout.learn(result.body, plan)
      return { kind: 'applied' }
    }
    const message = result.error?.message ?? ''
    if (isAlreadyThere(message, batch.marker)) {
      // It was applied by a try whose answer did not reach us.
      this.#layout.forget()
      return this.#confirm(batch, signal)
    }
    if (isStaleLayout(message)) {
      this.#layout.forget()
      if (!plan.isFresh) return { kind: 'retryable', message, afterMs: 0 }
    }
    const tab = requests[requestIndex(message) ?? -1]?.tab
    return result.kind === 'refused' && tab !== undefined ? { ...result, tab } : result
  }

  async abandon(batch: FrozenBatch, signal: AbortSignal): Promise<Abandoned> {
    const value = abandonedValue(batch, this.#spreadsheetId)
    const requests = [[createMarker(batch.marker, value)]]
    const result = await this.#updateWithMarker(batch.marker, requests, signal)
    if (result.kind === 'ok') return { kind: 'abandoned' }
    if (!isAlreadyThere(result.error?.message ?? '', batch.marker)) return result
    const outcome = await this.#confirm(batch, signal)
    return outcome.kind === 'foreign' ? { kind: 'abandoned' } : outcome
  }

  async prune(markers: readonly number[], signal: AbortSignal): Promise<Pruned> {
    // Only markers that were just seen: what deleting a missing one does is not documented.
    const fields = 'matchedDeveloperMetadata.developerMetadata.metadataId'
    const found = await this.#api.call(
      {
        method: 'POST',
        path: `/developerMetadata:search?fields=${fields}`,
        body: JSON.stringify({
          dataFilters: [{ developerMetadataLookup: { metadataKey: markerKey } }],
        }),
      },
      signal,
    )
    if (found.kind !== 'ok') return found
    const present = metadataIds(found.body)
    const standing = markers.filter((marker) => present.has(marker))
    if (standing.length === 0) return { kind: 'pruned' }
    const result = await this.#update(
      standing.map((marker) => [deleteMarker(marker)]),
      signal,
    )
    if (result.kind !== 'ok') return result
    const deleted = deletedMarkers(result.body)
    if (standing.every((marker) => deleted.has(marker))) return { kind: 'pruned' }
    return {
      kind: 'unknown',
      message: 'The answer of the Sheets API does not show the old markers',
    }
  }

  /** The marker's id is taken: by this very batch, which was applied then, or by something else. */
  async #confirm(
    batch: FrozenBatch,
    signal: AbortSignal,
  ): Promise<Applied | GivenUp | Foreign | Refused | Retryable> {
    const result = await this.#api.call(
      { method: 'GET', path: `/developerMetadata/${batch.marker}?fields=metadataValue` },
      signal,
    )
    if (result.kind !== 'ok') {
      // A marker that vanished meanwhile; the next try tells.
      if (result.error?.status === 404) return { kind: 'retryable', message: result.message }
      return notSent(result)
    }
    switch (result.body['metadataValue']) {
      case markerValue(batch, this.#spreadsheetId):
        return { kind: 'applied' }
      case abandonedValue(batch, this.#spreadsheetId):
        return { kind: 'abandoned' }
    }
    return {
      kind: 'foreign',
      message: `The developer metadata id ${batch.marker} is in use by something else`,
    }
  }

  /** Only an answer that shows the new marker is Google's word that the requests were applied. */
  async #updateWithMarker(
    marker: number,
    requests: readonly (readonly string[])[],
    signal: AbortSignal,
  ): Promise<ApiResult> {
    const result = await this.#update(requests, signal)
    if (result.kind !== 'ok' || createdMarker(result.body) === marker) return result
    return { kind: 'unknown', message: 'The answer of the Sheets API does not show the new marker' }
  }

  /** Each request comes in pieces of JSON. */
  #update(requests: readonly (readonly string[])[], signal: AbortSignal): Promise<ApiResult> {
    // The titles come with the answer, so that a renamed tab is noticed with the next batch.
    const replies =
      'replies(createDeveloperMetadata.developerMetadata.metadataId,' +
      'deleteDeveloperMetadata.deletedDeveloperMetadata.metadataId)'
    const fields = `${replies},updatedSpreadsheet.${sheetFields}`
    return this.#api.call(
      {
        method: 'POST',
        path: `:batchUpdate?fields=${encodeURIComponent(fields)}`,
        body: [
          '{"requests":[',
          ...requests.flatMap((pieces, index) => (index > 0 ? [',', ...pieces] : pieces)),
          '],"includeSpreadsheetInResponse":true}',
        ],
      },
      signal,
    )
  }
}

/** A failure of a call that changes nothing: not applied, whatever became of the call. */
function notSent(failure: ApiFailure): Refused | Retryable {
  return failure.kind === 'unknown' ? { ...failure, kind: 'retryable' } : failure
}

function metadataIds(body: Record<string, unknown>): ReadonlySet<number> {
  const matched: unknown[] = Array.isArray(body['matchedDeveloperMetadata'])
    ? body['matchedDeveloperMetadata']
    : []
  return new Set(
    matched.flatMap((match) => {
      const metadata = isRecord(match) ? match['developerMetadata'] : undefined
      return isRecord(metadata) ? [Number(metadata['metadataId'])] : []
    }),
  )
}
