import type { Clock } from '../../platform/clock.ts'
import { headerRanges, parameters, perCall, quoted } from './ranges.ts'
import { cellFields, readFirstRows, readSheets, type Sheet, sheetFields } from './sheets.ts'
import type { ApiFailure, SheetsApi } from './sheets-api.ts'

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
  /** A sheet that was just found empty. */
  #empty: { readonly sheetId: number; readonly atMs: number } | undefined

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

  /** Notes that the sheet is empty, so that the next `look`, if it comes soon, need not read it. */
  foundEmpty(sheetId: number): void {
    this.#empty = { sheetId, atMs: this.#clock.elapsed() }
  }

  forget(): void {
    this.#rows.clear()
    this.#empty = undefined
  }

  /** Notes that rows were just written. */
  written(): void {
    this.#seenAtMs = this.#clock.elapsed()
  }

  /**
   * Reads the unknown sheets, and after a rest also known ones. Returns what it learned about them.
   */
  async look(sheets: readonly Sheet[], signal: AbortSignal): Promise<Looked | ApiFailure> {
    const known = sheets.filter(({ sheetId }) => this.#rows.has(sheetId))
    const unknown = sheets.filter(
      ({ sheetId }) => !this.#rows.has(sheetId) && !this.#isEmpty(sheetId),
    )
    const hasRested = this.#clock.elapsed() - (this.#seenAtMs ?? Infinity) > restMs
    const [again = []] = hasRested ? perCall(known, headerRanges) : []
    if (unknown.length + again.length === 0) return { kind: 'ok', sheets: [] }

    // Read the first rows of large sheets. Read small sheets, and those with empty first rows, whole.
    const small = unknown.filter(({ rowCount }) => rowCount <= wholeSheetRowsMax)
    const large = [...unknown.filter((sheet) => !small.includes(sheet)), ...again]
    const first = await this.#ask(large, headerRanges, signal)
    if (first.kind !== 'found') return first
    const open = large.filter(({ sheetId }) => !first.rows.has(sheetId))
    const second = await this.#askWhole([...small, ...open], signal)
    if (second.kind !== 'found') return second
    if (hasRested) this.#seenAtMs = this.#clock.elapsed()
    for (const { sheetId } of again) this.#rows.delete(sheetId)
    for (const [sheetId, row] of [...first.rows, ...second.rows]) this.set(sheetId, row)
    return { kind: 'ok', sheets: [...first.sheets, ...second.sheets] }
  }

  #isEmpty(sheetId: number): boolean {
    if (this.#empty?.sheetId !== sheetId) return false
    return this.#clock.elapsed() - this.#empty.atMs < restMs
  }

  /** Reads sheets whole. Of those that are larger than an answer, it reads the first rows only. */
  async #askWhole(sheets: readonly Sheet[], signal: AbortSignal): Promise<FoundRows | ApiFailure> {
    const all = await this.#ask(sheets, whole, signal)
    if (all.kind === 'found' || all.isTooLarge !== true) return all
    const first = await this.#ask(sheets, headerRanges, signal)
    if (first.kind !== 'found') return first
    const rows = new Map(first.rows)
    for (const sheet of sheets.filter(({ sheetId }) => !rows.has(sheetId))) {
      const alone = await this.#ask([sheet], whole, signal)
      if (alone.kind === 'found') for (const [sheetId, row] of alone.rows) rows.set(sheetId, row)
      else if (alone.isTooLarge === true) rows.set(sheet.sheetId, [])
      else return alone
    }
    return { ...first, rows }
  }

  async #ask(
    sheets: readonly Sheet[],
    rangesOf: (sheet: Sheet) => readonly string[],
    signal: AbortSignal,
  ): Promise<FoundRows | ApiFailure> {
    const found: Sheet[] = []
    const rows = new Map<number, readonly string[]>()
    const fields = encodeURIComponent(`sheets(${sheetFields},${cellFields})`)
    for (const asked of perCall(sheets, rangesOf)) {
      const query = asked.map((sheet) => parameters(rangesOf(sheet))).join('')
      const path = `?fields=${fields}${query}`
      const result = await this.#api.call({ method: 'GET', path }, signal)
      if (result.kind !== 'ok') return result
      found.push(...(readSheets(result.body) ?? []))
      for (const [sheetId, row] of readFirstRows(result.body)) rows.set(sheetId, row)
    }
    return { kind: 'found', sheets: found, rows }
  }
}

interface Looked {
  readonly kind: 'ok'
  readonly sheets: readonly Sheet[]
}

interface FoundRows {
  readonly kind: 'found'
  readonly sheets: readonly Sheet[]
  /** The first rows of the sheets that have a value in their ranges. */
  readonly rows: ReadonlyMap<number, readonly string[]>
}

function whole(sheet: Sheet): readonly string[] {
  return [quoted(sheet)]
}
