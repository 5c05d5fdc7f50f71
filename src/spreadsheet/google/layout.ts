import type { Clock, Random } from '../../platform/clock.ts'
import type { TabSignups } from '../../signup/batch.ts'
import { columns } from '../../signup/row.ts'
import type { TabPlan } from './requests.ts'
import { copyWarning } from './markers.ts'
import { fillWarning, findSheet, isRecord, readSheets, type Sheet, sheetFields } from './sheets.ts'
import type { ApiFailure, SheetsApi } from './sheets-api.ts'

/** A tab with a larger grid was filled by somebody: its first row is enough to see that. */
const wholeTabRowsMax = 1000

/** Ranges asked for in one call; they travel in the URL, so there is a limit on its length. */
const rangesPerCall = 20

/**
 * After so long without a batch its tabs are looked at again: people empty a tab once they have tried
 * the form. Only then, once: it costs a call a minute at most, and none while there is traffic.
 */
const restMs = 60_000

/** Ids are int32 and not negative. */
const sheetIdMax = 2 ** 31 - 1

/**
 * Which sheets the spreadsheet has, as far as we know: people rename, add and delete them. It is asked
 * for once and then kept current by the answers to our own calls; `forget` makes it ask again.
 */
export class Layout {
  readonly #api: SheetsApi
  readonly #clock: Clock
  readonly #random: Random
  #sheets: readonly Sheet[] | undefined
  /** Ids of sheets that are known to hold something. */
  readonly #filled = new Set<number>()
  /** When a batch was applied last; undefined once its tabs were looked at again since. */
  #appliedAtMs: number | undefined
  #copyWarning: string | undefined

  constructor(api: SheetsApi, clock: Clock, random: Random) {
    this.#api = api
    this.#clock = clock
    this.#random = random
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

  /** Finds out where each tab's rows go and what has to be prepared; at most two calls, mostly none. */
  async plan(
    tabs: readonly TabSignups[],
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'plan'; readonly plans: readonly TabPlan[] } | ApiFailure> {
    const loaded = await this.load(signal)
    if (loaded.kind !== 'ok') return loaded
    const sheets = this.#sheets ?? []
    const found = tabs.map((rows) => ({ rows, sheet: findSheet(sheets, rows.tab) }))
    const hasRested = this.#clock.elapsed() - (this.#appliedAtMs ?? Infinity) > restMs
    const unsure = found.flatMap(({ sheet }) =>
      sheet && (hasRested || !this.#filled.has(sheet.sheetId)) ? [sheet] : [],
    )
    const filled = await this.#whichHoldSomething(unsure, signal)
    if (filled.kind !== 'filled') return filled
    if (hasRested) this.#appliedAtMs = undefined
    for (const { sheetId } of unsure) this.#filled.delete(sheetId)
    for (const sheetId of filled.sheetIds) this.#filled.add(sheetId)
    const taken = new Set(sheets.map(({ sheetId }) => sheetId))
    // Tabs without rows were looked at too: the same calls, so that nobody can tell by the time.
    const written = found.filter(({ rows }) => rows.signups.length > 0)
    return {
      kind: 'plan',
      plans: written.map(({ rows, sheet }) =>
        sheet
          ? this.#planFor(rows, sheet)
          : { rows, sheetId: this.#newSheetId(taken), prepare: { kind: 'new sheet' } },
      ),
    }
  }

  /** Takes over what the answer to an applied batch tells of the sheets. */
  learn(reply: Record<string, unknown>, plans: readonly TabPlan[]): void {
    this.#sheets = readSheets(reply['updatedSpreadsheet'])
    this.#appliedAtMs = this.#clock.elapsed()
    for (const { sheetId } of plans) this.#filled.add(sheetId)
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

  async #whichHoldSomething(
    sheets: readonly Sheet[],
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'filled'; readonly sheetIds: readonly number[] } | ApiFailure> {
    const large = sheets.filter(
      ({ rowCount, sheetId }) => rowCount > wholeTabRowsMax || this.#filled.has(sheetId),
    )
    const ranges = sheets.map((sheet) => (large.includes(sheet) ? firstRow(sheet) : whole(sheet)))
    const first = await this.#rangesWithValues(ranges, signal)
    if (first.kind !== 'ranges') return first
    const open = large.filter((sheet) => !first.filled.has(firstRow(sheet)))
    const second = await this.#rangesWithValues(open.map(whole), signal)
    if (second.kind !== 'ranges') return second
    const filled = sheets.filter(
      (sheet) =>
        first.filled.has(firstRow(sheet)) ||
        first.filled.has(whole(sheet)) ||
        second.filled.has(whole(sheet)),
    )
    return { kind: 'filled', sheetIds: filled.map(({ sheetId }) => sheetId) }
  }

  async #rangesWithValues(
    ranges: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'ranges'; readonly filled: ReadonlySet<string> } | ApiFailure> {
    const filled = new Set<string>()
    for (let from = 0; from < ranges.length; from += rangesPerCall) {
      const asked = ranges.slice(from, from + rangesPerCall)
      const query = asked.map((range) => `ranges=${encodeURIComponent(range)}`).join('&')
      const path = `/values:batchGet?${query}&fields=valueRanges(values)`
      const result = await this.#api.call({ method: 'GET', path }, signal)
      if (result.kind !== 'ok') {
        // A sheet was renamed or deleted between the two calls.
        if (result.error?.status !== 400) return result
        this.forget()
        return { kind: 'retryable', message: result.error.message, afterMs: 0 }
      }
      const answers: unknown[] = Array.isArray(result.body['valueRanges'])
        ? result.body['valueRanges']
        : []
      asked.forEach((range, index) => {
        const answer = answers[index]
        // Google leaves "values" out when a range holds nothing.
        if (isRecord(answer) && answer['values'] !== undefined) filled.add(range)
      })
    }
    return { kind: 'ranges', filled }
  }
}

/** Always quoted: a tab named A1 or D9037 would be read as a cell otherwise. */
function whole({ title }: Sheet): string {
  return `'${title.replaceAll("'", "''")}'`
}

function firstRow(sheet: Sheet): string {
  return `${whole(sheet)}!1:1`
}
