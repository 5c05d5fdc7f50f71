import type { Clock } from '../../platform/clock.ts'
import { headerRanges, perCall, quoted } from './ranges.ts'
import { cellFields, readFirstRows, readSheets, type Sheet, sheetFields } from './sheets.ts'
import { isTooLarge, type SheetsApi } from './sheets-api.ts'

/** A larger sheet was filled by somebody, so its first row is read first. */
const wholeSheetRowsMax = 1000

/**
 * What is known about a sheet is read again when it is older than this, because people empty a tab after
 * trying the form. That costs at most one call a minute, and none while there is traffic.
 */
const restMs = 60_000

/** Keeps the first row of each sheet that has content. An empty sheet gets the header row. */
export class FirstRows {
  readonly #api: SheetsApi
  readonly #clock: Clock
  readonly #rows = new Map<number, readonly string[]>()
  /** When rows were last written, or known sheets were read again; undefined before that. */
  #seenAtMs: number | undefined

  constructor(api: SheetsApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  /** The first row of a sheet; undefined when the sheet is empty or was not read. */
  get(sheetId: number): readonly string[] | undefined {
    return this.#rows.get(sheetId)
  }

  /** Notes that the sheet has content and begins with this row. */
  set(sheetId: number, row: readonly string[]): void {
    this.#rows.set(sheetId, row)
  }

  forget(): void {
    this.#rows.clear()
  }

  /** Notes that rows were just written. */
  written(): void {
    this.#seenAtMs = this.#clock.elapsed()
  }

  /**
   * Reads the unknown sheets, and after a rest also known ones. Returns what it learned about them.
   *
   * @throws ReadFailed
   */
  async look(sheets: readonly Sheet[], signal: AbortSignal): Promise<readonly Sheet[]> {
    const known = sheets.filter(({ sheetId }) => this.#rows.has(sheetId))
    const unknown = sheets.filter(({ sheetId }) => !this.#rows.has(sheetId))
    const hasRested = this.#clock.elapsed() - (this.#seenAtMs ?? Infinity) > restMs
    const [again = []] = hasRested ? perCall(known, headerRanges) : []
    if (unknown.length + again.length === 0) return []

    // Read the first rows of large sheets. Read small sheets, and those with empty first rows, whole.
    const small = unknown.filter(({ rowCount }) => rowCount <= wholeSheetRowsMax)
    const large = [...unknown.filter((sheet) => !small.includes(sheet)), ...again]
    const first = await this.#ask(large, headerRanges, signal)
    const open = large.filter(({ sheetId }) => !first.rows.has(sheetId))
    const second = await this.#askWhole([...small, ...open], signal)
    if (hasRested) this.#seenAtMs = this.#clock.elapsed()
    for (const { sheetId } of again) this.#rows.delete(sheetId)
    for (const [sheetId, row] of [...first.rows, ...second.rows]) this.set(sheetId, row)
    return [...first.sheets, ...second.sheets]
  }

  /** Reads sheets whole. Of those that are larger than an answer, it reads the first rows only. */
  async #askWhole(sheets: readonly Sheet[], signal: AbortSignal): Promise<FoundRows> {
    try {
      return await this.#ask(sheets, (sheet) => [quoted(sheet)], signal)
    } catch (error) {
      if (!isTooLarge(error)) throw error
    }
    const first = await this.#ask(sheets, headerRanges, signal)
    const rows = new Map(first.rows)
    for (const sheet of sheets.filter(({ sheetId }) => !rows.has(sheetId))) {
      // A single sheet that is too large has content below.
      const alone = sheets.length > 1 && (await this.#askWhole([sheet], signal)).rows
      if (!alone || alone.size > 0) rows.set(sheet.sheetId, [])
    }
    return { ...first, rows }
  }

  async #ask(
    sheets: readonly Sheet[],
    rangesOf: (sheet: Sheet) => readonly string[],
    signal: AbortSignal,
  ): Promise<FoundRows> {
    const found: Sheet[] = []
    const rows = new Map<number, readonly string[]>()
    for (const asked of perCall(sheets, rangesOf)) {
      const fields = `sheets(${sheetFields},${cellFields})`
      const answer = await this.#api.read(fields, signal, asked.flatMap(rangesOf))
      found.push(...readSheets(answer))
      for (const [sheetId, row] of readFirstRows(answer)) rows.set(sheetId, row)
    }
    return { sheets: found, rows }
  }
}

interface FoundRows {
  readonly sheets: readonly Sheet[]
  /** The first rows of the sheets that have a value in their ranges. */
  readonly rows: ReadonlyMap<number, readonly string[]>
}
