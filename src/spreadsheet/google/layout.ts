import type { Clock, Random } from '../../platform/clock.ts'
import type { TabSignups } from '../../signup/batch.ts'
import { columns } from '../../signup/row.ts'
import type { Refused } from '../spreadsheet.ts'
import { FilledSheets } from './filled-sheets.ts'
import { copyWarning } from './markers.ts'
import type { TabPlan } from './requests.ts'
import { fillWarning, findSheet, readSheets, type Sheet, sheetFields } from './sheets.ts'
import type { ApiFailure, SheetsApi } from './sheets-api.ts'

/** Ids are int32 and not negative. */
const sheetIdMax = 2 ** 31 - 1

export interface Plan {
  readonly kind: 'plan'
  readonly tabs: readonly TabPlan[]
  /** Made from a list of sheets that was read for it: what Google refuses then is no stale knowledge. */
  readonly isFresh: boolean
}

/**
 * Which sheets the spreadsheet has, as far as we know: people rename, add and delete them. It is asked
 * for once and then kept current by the answers to our own calls; `forget` makes it ask again.
 */
export class Layout {
  readonly #api: SheetsApi
  readonly #random: Random
  readonly #filled: FilledSheets
  #sheets: readonly Sheet[] | undefined
  #copyWarning: string | undefined

  constructor(api: SheetsApi, clock: Clock, random: Random) {
    this.#api = api
    this.#random = random
    this.#filled = new FilledSheets(api, clock)
  }

  get warnings(): readonly string[] {
    const warnings = [this.#copyWarning, this.#sheets && fillWarning(this.#sheets)]
    return warnings.filter((warning) => warning !== undefined)
  }

  /** Something of it was wrong, or may have changed without our seeing it. */
  forget(): void {
    this.#sheets = undefined
  }

  /** Asks for the sheets, one call; nothing when they are known. */
  async load(signal: AbortSignal): Promise<{ readonly kind: 'ok' } | ApiFailure> {
    if (this.#sheets) return { kind: 'ok' }
    const fields = `${sheetFields},developerMetadata(metadataKey,metadataValue)`
    const path = `?fields=${encodeURIComponent(fields)}`
    const result = await this.#api.call({ method: 'GET', path }, signal)
    if (result.kind !== 'ok') return result
    this.#sheets = readSheets(result.body)
    this.#copyWarning = copyWarning(result.body, this.#api.spreadsheetId)
    if (this.#sheets) return { kind: 'ok' }
    return { kind: 'retryable', message: 'The Sheets API answered without the list of sheets' }
  }

  /** Finds out where each tab's rows go and what has to be prepared: mostly without a call. */
  async plan(tabs: readonly TabSignups[], signal: AbortSignal): Promise<Plan | ApiFailure> {
    const isFresh = this.#sheets === undefined
    const loaded = await this.load(signal)
    if (loaded.kind !== 'ok') return loaded
    const sheets = this.#sheets ?? []
    const found = tabs.map((rows) => ({ rows, sheet: findSheet(sheets, rows.tab) }))
    const noGrid = found.find(({ sheet }) => sheet?.isGrid === false)
    if (noGrid) return { ...noGridRefusal, tab: noGrid.rows.tab }

    const existing = found.flatMap(({ sheet }) => (sheet ? [sheet] : []))
    const looked = await this.#filled.look(existing, signal)
    if (looked.kind !== 'ok' && looked.error?.status !== 400) return looked
    if (looked.kind !== 'ok' && !isFresh) {
      // A sheet was renamed or deleted since the list was read.
      this.forget()
      return { kind: 'retryable', message: looked.error?.message ?? '', afterMs: 0 }
    }
    // A title that Google does not read: a missing header does less harm than a batch that waits.
    if (looked.kind !== 'ok') this.#filled.add(existing.map(({ sheetId }) => sheetId))

    const taken = new Set(sheets.map(({ sheetId }) => sheetId))
    // Tabs without rows were looked at too: the same calls, so that nobody can tell by the time.
    const written = found.filter(({ rows }) => rows.signups.length > 0)
    return {
      kind: 'plan',
      isFresh,
      tabs: written.map(({ rows, sheet }) =>
        sheet
          ? this.#planFor(rows, sheet)
          : { rows, sheetId: this.#newSheetId(taken), prepare: { kind: 'new sheet' } },
      ),
    }
  }

  /** Takes over what the answer to an applied batch tells of the sheets. */
  learn(reply: Record<string, unknown>, { tabs }: Plan): void {
    this.#sheets = readSheets(reply['updatedSpreadsheet'])
    this.#filled.written(tabs.map(({ sheetId }) => sheetId))
  }

  #planFor(rows: TabSignups, { sheetId, columnCount }: Sheet): TabPlan {
    const missingColumns = Math.max(0, columns.length - columnCount)
    const isEmpty = !this.#filled.has(sheetId)
    if (missingColumns === 0 && !isEmpty) return { rows, sheetId, prepare: { kind: 'nothing' } }
    return { rows, sheetId, prepare: { kind: 'existing sheet', missingColumns, isEmpty } }
  }

  #newSheetId(taken: Set<number>): number {
    let sheetId
    do sheetId = Math.floor(this.#random() * sheetIdMax)
    while (taken.has(sheetId))
    taken.add(sheetId)
    return sheetId
  }
}

const noGridRefusal: Refused = {
  kind: 'refused',
  message: 'The tab has no cells: it is a chart or another sheet of its own kind',
  hint: 'Rename that tab of the spreadsheet; its signups then get a tab with cells.',
}
