import type { Clock, Random } from '../../platform/clock.ts'
import type { FrozenBatch } from '../../signup/batch.ts'
import { noColumns, type OwnColumn } from '../../signup/row.ts'
import type { Warning } from '../../signup/trouble.ts'
import type {
  Abandoned,
  CallGate,
  Failed,
  Finished,
  MaySend,
  NamedTab,
  Opened,
  Outcome,
  Pruned,
  Removal,
  RowReader,
  RowToRemove,
  Spreadsheet,
  Unknown,
} from '../spreadsheet.ts'
import { type AccessTokenOptions, AccessTokens } from './access-token.ts'
import { numberIn } from './answer.ts'
import { isAboutRanges, isAlreadyThere, isStaleLayout, requestIndex } from './batch-errors.ts'
import { Layout, type Plan } from './layout.ts'
import {
  abandonedValue,
  createdMarker,
  createMarker,
  deletedMarkers,
  foundMarkers,
  markerKey,
  markerReplies,
  markersIn,
  markerValue,
  shortNameOf,
} from './markers.ts'
import { batchRequests, deleteMetadata } from './requests.ts'
import { cellFields, sheetFields } from './sheets.ts'
import { googleProfile } from './profile.ts'
import { GoogleRowReader } from './row-reader.ts'
import { removeRows } from './row-removal.ts'
import {
  type ApiFailure,
  type ApiResult,
  ReadFailed,
  reading,
  SheetsApi,
  type SheetsApiOptions,
} from './sheets-api.ts'

export interface GoogleSheetsOptions extends Omit<SheetsApiOptions, 'tokens'>, AccessTokenOptions {
  readonly random: Random
  /** The gate of calls that remove rows; `gate` when it is left out. */
  readonly removalGate?: CallGate
  readonly own?: readonly OwnColumn[]
}

export function createGoogleSheets(options: GoogleSheetsOptions): Spreadsheet {
  return new GoogleSheets(options)
}

/** Google's link to the spreadsheet, or a description when the API is an emulator. */
export function locationOf({
  spreadsheetId,
  apiUrl,
}: Readonly<Record<'spreadsheetId' | 'apiUrl', string>>): string {
  return new URL(apiUrl).hostname.endsWith('.googleapis.com')
    ? `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit`
    : `${apiUrl}/spreadsheets/${spreadsheetId}`
}

/**
 * Writes batches behind a fence: every batch creates its own marker in the same atomic call as its
 * rows. Google refuses a marker id that exists, so a batch that arrives again or late changes nothing.
 */
class GoogleSheets implements Spreadsheet {
  readonly location: string
  readonly profile = googleProfile
  readonly #shortName: string
  readonly #own: readonly OwnColumn[]
  readonly #api: SheetsApi
  readonly #removals: SheetsApi
  readonly #layout: Layout
  readonly #clock: Clock

  constructor(options: GoogleSheetsOptions) {
    const { access, apiUrl, clock, random } = options
    this.location = locationOf({ ...access, apiUrl })
    this.#shortName = shortNameOf(access.spreadsheetId)
    this.#own = options.own ?? noColumns
    const tokens = new AccessTokens(options)
    this.#api = new SheetsApi({ ...options, tokens })
    const { gate, removalGate = gate } = options
    this.#removals = new SheetsApi({ ...options, tokens, gate: removalGate })
    this.#layout = new Layout(this.#api, clock, random, this.#own)
    this.#clock = clock
  }

  get warnings(): readonly Warning[] {
    return this.#layout.warnings
  }

  open(signal: AbortSignal): Promise<Opened> {
    return reading(async () => {
      await this.#layout.load(signal)
      return { kind: 'open' }
    })
  }

  async write(batch: FrozenBatch, signal: AbortSignal, maySend?: MaySend): Promise<Outcome> {
    const plan = await reading(() => this.#layout.plan(batch, signal))
    if (plan.kind !== 'plan') return plan
    const marker = createMarker(batch, markerValue(batch, this.#shortName))
    const requests = await batchRequests(marker, plan.tabs, this.#own, this.#clock)
    const result = await this.#updateWithMarker(
      batch.marker,
      requests.map(({ request }) => request),
      { signal, maySend, ranges: plan.ranges },
    )
    if (result.kind === 'ok') {
      this.#layout.learn(result.body, plan)
      return { kind: 'applied' }
    }
    const message = result.error?.message ?? ''
    if (isAlreadyThere(message, batch.marker)) return this.#confirm(batch, signal)
    const name = requests[requestIndex(message) ?? -1]?.tab
    const tab = name === undefined ? undefined : this.#layout.tabFor(name)
    return this.#notWritten(result, batch, plan, tab)
  }

  /** The outcome of a failed batch, which may be about one tab. */
  #notWritten(
    result: ApiFailure,
    batch: FrozenBatch,
    plan: Plan,
    tab: NamedTab | undefined,
  ): Failed {
    const message = result.error?.message ?? ''
    if (isAboutRanges(message)) {
      this.#layout.tried(batch, plan)
      this.#layout.rangesRefused(plan)
      return { kind: 'unknown', message, afterMs: 0 }
    }
    if (result.kind === 'unknown') this.#layout.tried(batch, plan)
    // Google does not document its error for a missing table, so take any 400 for it.
    const isAboutTable =
      result.error?.status === 400 &&
      plan.tabs.some(({ rows, place }) => place.table && rows.tab === (tab?.name ?? rows.tab))
    if (isStaleLayout(message) || isAboutTable) {
      this.#layout.forget()
      if (!plan.isFresh) return { kind: 'retryable', message, afterMs: 0 }
    }
    if (result.kind !== 'refused' || tab === undefined) return result
    // The header row may be protected. Then what has no column goes into Metadata.
    if (this.#layout.keepHeader(plan, tab.name)) return { kind: 'retryable', message, afterMs: 0 }
    return { ...result, tab }
  }

  async abandon(batch: FrozenBatch, signal: AbortSignal, maySend?: MaySend): Promise<Abandoned> {
    const requests = [[createMarker(batch, abandonedValue(batch, this.#shortName))]]
    const result = await this.#updateWithMarker(batch.marker, requests, { signal, maySend })
    if (result.kind === 'ok') {
      this.#layout.gaveUp()
      return { kind: 'abandoned' }
    }
    if (!isAlreadyThere(result.error?.message ?? '', batch.marker)) return result
    const outcome = await this.#confirm(batch, signal)
    return outcome.kind === 'foreign' ? { kind: 'abandoned' } : outcome
  }

  prune(markers: readonly number[], signal: AbortSignal): Promise<Pruned> {
    return reading<Pruned>(async () => {
      // Delete only markers that exist: Google does not document what deleting a missing one does.
      const fields =
        'matchedDeveloperMetadata.developerMetadata(metadataId,metadataKey,metadataValue)'
      const found = await this.#api.ask(
        {
          method: 'POST',
          path: `/developerMetadata:search?fields=${encodeURIComponent(fields)}`,
          body: JSON.stringify({
            dataFilters: [{ developerMetadataLookup: { metadataKey: markerKey } }],
          }),
        },
        signal,
      )
      const all = foundMarkers(found)
      const present = new Set(all.map((marker) => numberIn(marker, 'metadataId')))
      const standing = markers.filter((marker) => present.has(marker))
      const others = markersIn(all, this.#shortName).filter(
        ({ marker }) => !standing.includes(marker),
      )
      if (standing.length === 0) return { kind: 'pruned', others }
      const requests = standing.map((metadataId) => [deleteMetadata({ metadataId })])
      const result = await this.#update(requests, { signal })
      if (result.kind !== 'ok') return result
      const deleted = deletedMarkers(result.body)
      if (standing.every((marker) => deleted.has(marker))) return { kind: 'pruned', others }
      const message = 'The answer of the Sheets API does not show the old markers'
      return { kind: 'unknown', message }
    })
  }

  /** Google applies a batch as a whole. */
  async finishEarlier(): Promise<Finished> {
    return { kind: 'finished' }
  }

  rowReader(): RowReader {
    return new GoogleRowReader(this.#api)
  }

  remove(rows: readonly RowToRemove[], signal: AbortSignal): Promise<Removal> {
    return reading(() => removeRows(this.#removals, rows, signal))
  }

  /** Finds out who uses the marker's id: this batch, which was then applied, or something else. */
  #confirm(batch: FrozenBatch, signal: AbortSignal): Promise<Exclude<Outcome, Unknown>> {
    return reading<Exclude<Outcome, Unknown>>(async () => {
      const path = `/developerMetadata/${batch.marker}?fields=metadataValue`
      const result = await this.#api.call({ method: 'GET', path }, signal)
      if (result.kind !== 'ok') {
        // The marker has vanished in the meantime. The next try shows the outcome.
        if (result.error?.status === 404) return { kind: 'retryable', message: result.message }
        throw new ReadFailed(result)
      }
      const value = result.body['metadataValue']
      if (value === markerValue(batch, this.#shortName)) {
        // An earlier try applied the batch, but its answer did not reach us.
        this.#layout.landed()
        return { kind: 'applied' }
      }
      this.#layout.gaveUp()
      if (value === abandonedValue(batch, this.#shortName)) return { kind: 'abandoned' }
      return {
        kind: 'foreign',
        message: `The developer metadata id ${batch.marker} is in use by something else`,
      }
    })
  }

  /** Only an answer with the new marker proves that the requests were applied. */
  async #updateWithMarker(
    marker: number,
    requests: readonly (readonly string[])[],
    sending: Sending,
  ): Promise<ApiResult> {
    const result = await this.#update(requests, sending)
    if (result.kind !== 'ok' || createdMarker(result.body) === marker) return result
    return { kind: 'unknown', message: 'The answer of the Sheets API does not show the new marker' }
  }

  /**
   * Sends requests, each given as pieces of JSON. The answer has titles, tables and the cells of these
   * ranges, so that changes by people are noticed with the next batch. Without ranges, no cells are
   * requested, as Google would send those of every sheet.
   */
  #update(
    requests: readonly (readonly string[])[],
    { signal, maySend, ranges = [] }: Sending,
  ): Promise<ApiResult> {
    const cells = ranges.length > 0 ? `,${cellFields}` : ''
    const fields = `${markerReplies},updatedSpreadsheet.sheets(${sheetFields}${cells})`
    const asked = ranges.length > 0 ? `,"responseRanges":${JSON.stringify(ranges)}` : ''
    return this.#api.call(
      {
        method: 'POST',
        path: `:batchUpdate?fields=${encodeURIComponent(fields)}`,
        body: [
          '{"requests":[',
          ...requests.flatMap((pieces, index) => (index > 0 ? [',', ...pieces] : pieces)),
          `],"includeSpreadsheetInResponse":true${asked}}`,
        ],
        maySend,
      },
      signal,
    )
  }
}

interface Sending {
  readonly signal: AbortSignal
  readonly maySend?: MaySend | undefined
  readonly ranges?: readonly string[]
}
