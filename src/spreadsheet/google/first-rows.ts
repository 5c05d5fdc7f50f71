import type { Clock } from '../../platform/clock.ts'
import { cellFields, readFirstRows, readSheets, type Sheet, sheetFields } from './sheets.ts'
import type { ApiFailure, SheetsApi } from './sheets-api.ts'

/** A sheet with a larger grid was filled by somebody: its first row is enough to see that. */
const wholeSheetRowsMax = 1000

/** Bounds of what is asked for: columns and tables beyond them are not looked at. */
const lastColumn = 'ZZ'
const tablesMax = 4

/** Sheets asked for in one call. Ranges travel in the URL, whose length servers limit, some to 8,000. */
const sheetsPerCall = 20
const rangesCharactersMax = 4000

/**
 * After so long without a batch its sheets are looked at again: people empty a tab once they have
 * tried the form. Only then, once: it costs a call a minute at most, and none while there is traffic.
 */
const restMs = 60_000

/** The first rows of the sheets that hold something; a sheet that does not gets the header row. */
export class FirstRows {
  readonly #api: SheetsApi
  readonly #clock: Clock
  readonly #rows = new Map<number, readonly string[]>()
  /** When rows were written last; undefined once their sheets were looked at again since. */
  #writtenAtMs: number | undefined
  /** A sheet that was just seen to hold nothing. */
  #empty: { readonly sheetId: number; readonly atMs: number } | undefined

  constructor(api: SheetsApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  /** Undefined when the sheet holds nothing, or was not looked at. */
  get(sheetId: number): readonly string[] | undefined {
    return this.#rows.get(sheetId)
  }

  /** This sheet holds something, and begins with this row. */
  set(sheetId: number, row: readonly string[]): void {
    this.#rows.set(sheetId, row)
  }

  /** This sheet holds nothing: the next look, if it comes soon, need not ask about it. */
  foundEmpty(sheetId: number): void {
    this.#empty = { sheetId, atMs: this.#clock.elapsed() }
  }

  forget(): void {
    this.#rows.clear()
    this.#empty = undefined
  }

  /** Rows were written just now. */
  written(): void {
    this.#writtenAtMs = this.#clock.elapsed()
  }

  /**
   * Asks about those of the sheets that are not known, and after a rest about known ones too; gives what
   * was learned of these sheets.
   */
  async look(sheets: readonly Sheet[], signal: AbortSignal): Promise<Looked | ApiFailure> {
    const known = sheets.filter(({ sheetId }) => this.#rows.has(sheetId))
    const unknown = sheets.filter(
      ({ sheetId }) => !this.#rows.has(sheetId) && !this.#isEmpty(sheetId),
    )
    const hasRested = this.#clock.elapsed() - (this.#writtenAtMs ?? Infinity) > restMs
    const [again = []] = hasRested ? perCall(known, headerRanges) : []
    if (unknown.length + again.length === 0) return { kind: 'ok', sheets: [] }

    // The first row tells of most sheets; of the others all is asked for, if it is little or needed.
    const small = unknown.filter(({ rowCount }) => rowCount <= wholeSheetRowsMax)
    const large = [...unknown.filter((sheet) => !small.includes(sheet)), ...again]
    const first = await this.#ask(large, headerRanges, signal)
    if (first.kind !== 'found') return first
    const open = large.filter(({ sheetId }) => !first.rows.has(sheetId))
    const second = await this.#ask([...small, ...open], whole, signal)
    if (second.kind !== 'found') return second
    if (hasRested) this.#writtenAtMs = undefined
    for (const { sheetId } of again) this.#rows.delete(sheetId)
    for (const [sheetId, row] of [...first.rows, ...second.rows]) this.set(sheetId, row)
    return { kind: 'ok', sheets: [...first.sheets, ...second.sheets] }
  }

  #isEmpty(sheetId: number): boolean {
    if (this.#empty?.sheetId !== sheetId) return false
    return this.#clock.elapsed() - this.#empty.atMs < restMs
  }

  async #ask(
    sheets: readonly Sheet[],
    rangesOf: (sheet: Sheet) => readonly string[],
    signal: AbortSignal,
  ): Promise<Found | ApiFailure> {
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

interface Found {
  readonly kind: 'found'
  readonly sheets: readonly Sheet[]
  /** The first rows of those of the sheets that have a value in their ranges. */
  readonly rows: ReadonlyMap<number, readonly string[]>
}

/** The sheets in groups that fit into one call each. */
function perCall(
  sheets: readonly Sheet[],
  rangesOf: (sheet: Sheet) => readonly string[],
): Sheet[][] {
  const groups: Sheet[][] = []
  let characters = Infinity
  for (const sheet of sheets) {
    const added = parameters(rangesOf(sheet)).length
    const group = groups.at(-1)
    if (group && group.length < sheetsPerCall && characters + added <= rangesCharactersMax) {
      group.push(sheet)
      characters += added
    } else {
      groups.push([sheet])
      characters = added
    }
  }
  return groups
}

function parameters(ranges: readonly string[]): string {
  return ranges.map((range) => `&ranges=${encodeURIComponent(range)}`).join('')
}

/** Always quoted: a tab named A1 or D9037 would be read as a cell otherwise. */
function quoted({ title }: Sheet): string {
  return `'${title.replaceAll("'", "''")}'`
}

function whole(sheet: Sheet): readonly string[] {
  return [quoted(sheet)]
}

/** The rows where a person may change the columns: the first one and those that tables begin with. */
export function headerRanges(sheet: Sheet): readonly string[] {
  const rows = new Set([0, ...sheet.tables.slice(0, tablesMax).map(({ row }) => row)])
  return [...rows].map((row) => `${quoted(sheet)}!A${row + 1}:${lastColumn}${row + 1}`)
}
