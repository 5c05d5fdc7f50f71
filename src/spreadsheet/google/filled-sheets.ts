import type { Clock } from '../../platform/clock.ts'
import { isRecord, type Sheet } from './sheets.ts'
import type { ApiFailure, SheetsApi } from './sheets-api.ts'

/** A sheet with a larger grid was filled by somebody: its first row is enough to see that. */
const wholeSheetRowsMax = 1000

/** Ranges asked for in one call. They travel in the URL, whose length servers limit, some to 8,000. */
const rangesPerCall = 20
const rangesCharactersMax = 4000

/**
 * After so long without a batch its sheets are looked at again: people empty a tab once they have
 * tried the form. Only then, once: it costs a call a minute at most, and none while there is traffic.
 */
const restMs = 60_000

/** Which sheets hold something; one that does not gets the header row first. */
export class FilledSheets {
  readonly #api: SheetsApi
  readonly #clock: Clock
  readonly #ids = new Set<number>()
  /** When rows were written last; undefined once their sheets were looked at again since. */
  #writtenAtMs: number | undefined

  constructor(api: SheetsApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  has(sheetId: number): boolean {
    return this.#ids.has(sheetId)
  }

  /** These sheets hold something, as far as we need to know. */
  add(sheetIds: readonly number[]): void {
    for (const sheetId of sheetIds) this.#ids.add(sheetId)
  }

  /** Rows were written into these sheets. */
  written(sheetIds: readonly number[]): void {
    this.#writtenAtMs = this.#clock.elapsed()
    this.add(sheetIds)
  }

  /** Asks about those of the sheets that are not known, and after a rest about known ones too. */
  async look(
    sheets: readonly Sheet[],
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'ok' } | ApiFailure> {
    const known = sheets.filter(({ sheetId }) => this.has(sheetId))
    const unknown = sheets.filter(({ sheetId }) => !this.has(sheetId))
    const hasRested = this.#clock.elapsed() - (this.#writtenAtMs ?? Infinity) > restMs
    const [again = []] = hasRested ? perCall(known, firstRow) : []
    if (unknown.length + again.length === 0) return { kind: 'ok' }

    // The first row tells of most sheets; of the others all is asked for, if it is little or needed.
    const small = unknown.filter(({ rowCount }) => rowCount <= wholeSheetRowsMax)
    const large = [...unknown.filter((sheet) => !small.includes(sheet)), ...again]
    const first = await this.#withValues(large, firstRow, signal)
    if (first.kind !== 'found') return first
    const open = large.filter((sheet) => !first.sheets.includes(sheet))
    const second = await this.#withValues([...small, ...open], whole, signal)
    if (second.kind !== 'found') return second
    if (hasRested) this.#writtenAtMs = undefined
    for (const { sheetId } of again) this.#ids.delete(sheetId)
    this.add([...first.sheets, ...second.sheets].map(({ sheetId }) => sheetId))
    return { kind: 'ok' }
  }

  /** Those of the sheets that have a value in their range. */
  async #withValues(
    sheets: readonly Sheet[],
    rangeOf: (sheet: Sheet) => string,
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'found'; readonly sheets: readonly Sheet[] } | ApiFailure> {
    const found: Sheet[] = []
    for (const asked of perCall(sheets, rangeOf)) {
      const query = asked.map((sheet) => parameter(rangeOf(sheet))).join('')
      const path = `/values:batchGet?fields=valueRanges(values)${query}`
      const result = await this.#api.call({ method: 'GET', path }, signal)
      if (result.kind !== 'ok') return result
      const { valueRanges } = result.body
      const answers: readonly unknown[] = Array.isArray(valueRanges) ? valueRanges : []
      // Google leaves "values" out when a range holds nothing.
      const isFilled = (answer: unknown) => isRecord(answer) && answer['values'] !== undefined
      found.push(...asked.filter((_, index) => isFilled(answers[index])))
    }
    return { kind: 'found', sheets: found }
  }
}

/** The sheets in groups that fit into one call each. */
function perCall(sheets: readonly Sheet[], rangeOf: (sheet: Sheet) => string): Sheet[][] {
  const groups: Sheet[][] = []
  let characters = Infinity
  for (const sheet of sheets) {
    const added = parameter(rangeOf(sheet)).length
    const group = groups.at(-1)
    if (group && group.length < rangesPerCall && characters + added <= rangesCharactersMax) {
      group.push(sheet)
      characters += added
    } else {
      groups.push([sheet])
      characters = added
    }
  }
  return groups
}

function parameter(range: string): string {
  return `&ranges=${encodeURIComponent(range)}`
}

/** Always quoted: a tab named A1 or D9037 would be read as a cell otherwise. */
function whole({ title }: Sheet): string {
  return `'${title.replaceAll("'", "''")}'`
}

function firstRow(sheet: Sheet): string {
  return `${whole(sheet)}!1:1`
}
