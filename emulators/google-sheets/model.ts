import type { sheets_v4 } from '@googleapis/sheets'
import { ApiError, invalidArgument, LimitError, notEmulated, notFound } from './api-error.ts'
import type { Batch, RequestHandler } from './batch.ts'
import { newSheet } from './sheet.ts'
import { cellRequests } from './requests/cells.ts'
import { dimensionRequests } from './requests/dimensions.ts'
import { duplicateRequests } from './requests/duplicates.ts'
import { metadataRequests } from './requests/metadata.ts'
import { protectionRequests } from './requests/protections.ts'
import { tabRequests } from './requests/tabs.ts'
import {
  modelDefaults,
  type Caller,
  type ModelOptions,
  type Role,
  type SpreadsheetState,
} from './state.ts'
import { Transaction } from './transaction.ts'

const handlers: ReadonlyMap<string, RequestHandler> = new Map(
  [
    tabRequests,
    cellRequests,
    dimensionRequests,
    duplicateRequests,
    protectionRequests,
    metadataRequests,
  ]
    .flat()
    .map((handler) => [handler.kind, handler]),
)

export interface NewSpreadsheet {
  readonly id?: string
  readonly title?: string
  readonly sheets?: readonly { readonly sheetId: number; readonly title: string }[]
  readonly sharedWith?: Readonly<Record<string, Role>>
}

/**
 * All spreadsheets, without HTTP, timers or a clock. Every call is synchronous, so that a simulation can
 * make hundreds of thousands of calls.
 */
export class SheetsModel {
  readonly options: ModelOptions
  readonly spreadsheets = new Map<string, SpreadsheetState>()

  constructor(options: Partial<ModelOptions> = {}) {
    this.options = { ...modelDefaults, ...options }
  }

  /** Adds a spreadsheet. Throws when its id exists. */
  create(given: NewSpreadsheet = {}): SpreadsheetState {
    const id = given.id ?? this.#randomSpreadsheetId()
    if (this.spreadsheets.has(id)) throw new Error(`There is a spreadsheet ${id} already.`)
    const grid = { rowCount: 1000, columnCount: 26, frozenRowCount: 0 }
    const tabs = given.sheets ?? [{ sheetId: 0, title: 'Sheet1' }]
    const spreadsheet: SpreadsheetState = {
      id,
      properties: {
        title: given.title ?? 'Untitled spreadsheet',
        ...{ locale: 'en_US', autoRecalc: 'ON_CHANGE', timeZone: 'Etc/GMT' },
      },
      sheets: tabs.map(({ sheetId, title }) => newSheet(sheetId, title, grid)),
      metadata: new Map(),
      sharedWith: new Map(Object.entries(given.sharedWith ?? {})),
    }
    this.spreadsheets.set(id, spreadsheet)
    return spreadsheet
  }

  /** Finds a spreadsheet, or throws the 404 of the API. */
  find(id: string): SpreadsheetState {
    const spreadsheet = this.spreadsheets.get(id)
    if (!spreadsheet) throw notFound()
    return spreadsheet
  }

  /**
   * Applies all requests in order, or none: the error names the first invalid one. `check` is called after
   * all, and undoes them when it throws.
   */
  batchUpdate(
    spreadsheet: SpreadsheetState,
    caller: Caller,
    requests: readonly sheets_v4.Schema$Request[],
    check: () => void = () => undefined,
  ): sheets_v4.Schema$Response[] {
    if (requests.length === 0) throw invalidArgument('Must specify at least one request.')
    if (requests.length > requestsMax) {
      throw invalidArgument(`Cannot exceed ${requestsMax} requests in a single batch.`)
    }
    return this.transact(spreadsheet, caller, (batch) => {
      const replies = requests.map((request, index) => this.#apply(batch, request, index))
      check()
      return replies
    })
  }

  /** Makes a change, or undoes all of it when it throws. */
  transact<T>(spreadsheet: SpreadsheetState, caller: Caller, change: (batch: Batch) => T): T {
    const tx = new Transaction()
    try {
      return change({ spreadsheet, caller, tx, options: this.options })
    } catch (error) {
      tx.rollback()
      throw error
    }
  }

  #apply(
    batch: Batch,
    request: sheets_v4.Schema$Request,
    index: number,
  ): sheets_v4.Schema$Response {
    const [kind] = Object.keys(request)
    if (kind === undefined) throw invalidArgument(`Invalid requests[${index}]: No request set.`)
    const handler = handlers.get(kind)
    if (!handler) throw notEmulated(`the request ${kind}`)
    try {
      return handler.run(batch, request)
    } catch (error) {
      if (!(error instanceof ApiError) || error instanceof LimitError) throw error
      throw error.prefixed(`Invalid requests[${index}].${kind}: `)
    }
  }

  #randomSpreadsheetId(): string {
    const letter = () => idLetters[Math.floor(this.options.random() * idLetters.length)] ?? '-'
    return `1${Array.from({ length: 43 }, letter).join('')}`
  }
}

const requestsMax = 100_000
const idLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
