import { confirmedColumn, toRow } from '../signup/row.ts'
import type { Signup } from '../signup/signup.ts'
import { cellKey, shownCell } from './csv.ts'
import { isTimestamp } from './row-key.ts'
import type { RowToRemove } from './spreadsheet.ts'

/** What a row to remove is known by. */
export interface RowTexts {
  /** In small letters. */
  readonly address: string
  readonly timestamp: string
  /** The cells of each signup with this address and timestamp that keeps its row. */
  readonly spared: readonly (readonly string[])[]
}

/** The cells of a row of the spreadsheet, in one way to read them. */
export interface Reading {
  readonly cells: readonly string[]
  /** What its cells may be as addresses, in small letters. */
  readonly addresses: readonly string[]
}

interface Found<Row> {
  readonly row: Row
  readonly read: readonly (readonly string[])[]
}

/** Rows to remove that nothing tells apart, with the rows of the spreadsheet that may be them, in their order. */
interface Wanted<Row> {
  readonly texts: RowTexts
  readonly found: Found<Row>[]
}

/**
 * The rows to remove. A stranger may have made any number of rows of one person, even in one millisecond: each
 * row of the spreadsheet is looked up, and kept once.
 */
export class WantedRows<Row> {
  /** By address, then by timestamp. */
  readonly #byAddress = new Map<string, Map<string, Wanted<Row>>>()
  /** Those of each row to remove. */
  readonly #wanted: readonly Wanted<Row>[]

  constructor(rows: readonly RowToRemove[]) {
    this.#wanted = rows.map((row) => this.#wantedFor(row))
  }

  #wantedFor({ email, receivedAt, spared = [] }: RowToRemove): Wanted<Row> {
    const address = email.toLowerCase()
    const timestamp = new Date(receivedAt).toISOString()
    const byTime = this.#byAddress.get(address) ?? new Map<string, Wanted<Row>>()
    this.#byAddress.set(address, byTime)
    const texts = { address, timestamp, spared: spared.map(textsOf) }
    const wanted = byTime.get(timestamp) ?? { texts, found: [] }
    byTime.set(timestamp, wanted)
    return wanted
  }

  /** Whether some are told apart by all of their cells. */
  get haveSpared(): boolean {
    return this.#wanted.some(({ texts }) => texts.spared.length > 0)
  }

  /**
   * The rows of the spreadsheet that have to go, each with what it is known by; and for each row to remove, how
   * many of them are it. To be asked for once: it compares each row with all that stay.
   */
  decided(): { going: ReadonlyMap<Row, RowTexts>; standing: readonly number[] } {
    const rows = new Map([...new Set(this.#wanted)].map((one) => [one, goingOf(one)]))
    const going = Array.from(rows, ([{ texts }, all]) =>
      all.map(({ row }) => [row, texts] as const),
    )
    const standing = this.#wanted.map((one) => rows.get(one)?.length ?? 0)
    return { going: new Map(going.flat()), standing }
  }

  /** Whether the text, in small letters, may have one of the addresses. It costs less than to take it apart. */
  mayBeIn(text: string): boolean {
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
      const [domain = ''] = /^[a-z0-9.-]*/.exec(text.slice(at + 1, at + 1 + addressMax)) ?? []
      for (let from = at - 1; from >= 0 && from >= at - addressMax; from--) {
        if (/\s/.test(text[from] ?? '')) break
        if (this.#byAddress.has(`${text.slice(from, at)}@${domain}`)) return true
      }
    }
    return false
  }

  /** Takes a row of the spreadsheet in, if it may be one to remove. Returns whether it may. */
  take(row: Row, readings: readonly Reading[]): boolean {
    let isTaken = false
    for (const address of new Set(readings.flatMap((one) => one.addresses))) {
      const byTime = this.#byAddress.get(address)
      if (!byTime) continue
      const read = readings.flatMap(({ addresses, cells }) =>
        addresses.includes(address) ? [cells] : [],
      )
      const cells = read.flat()
      for (const time of new Set(cells.flatMap(timestampsIn))) {
        const wanted = byTime.get(time)
        wanted?.found.push({ row, read })
        isTaken ||= wanted !== undefined
      }
    }
    return isTaken
  }
}

/** As long as addresses are. */
const addressMax = 254

/**
 * All rows but one for each signup that keeps its row: the one that is most like it. Of rows that are that alike,
 * the last one stays, as who signs up again comes later.
 */
function goingOf<Row>({ texts, found }: Wanted<Row>): readonly Found<Row>[] {
  if (texts.spared.length === 0) return found
  const left = found.map((one) => ({ one, read: one.read.map(keysOf) }))
  for (const cells of texts.spared) {
    const wanted = keysOf(cells)
    const alike = left.map(({ read }) => Math.max(...read.map((one) => likeness(one, wanted))))
    left.splice(alike.lastIndexOf(Math.max(...alike)), 1)
  }
  return left.map(({ one }) => one)
}

function keysOf(cells: readonly string[]): readonly string[] {
  return cells.map(cellKey).filter((cell) => cell !== '')
}

/**
 * The fewer of the signup's cells a row lacks, in columns of their own or in its metadata, and the fewer other
 * cells it has, the greater.
 */
function likeness(has: readonly string[], wanted: readonly string[]): number {
  const isIn = (cell: string) => has.some((one) => one.includes(`":${JSON.stringify(cell)}`))
  const missing = wanted.filter((cell) => !has.includes(cell) && !isIn(cell))
  return -missing.length - has.filter((cell) => !wanted.includes(cell)).length
}

/** The cells of a signup, whatever columns a tab has. */
function textsOf(signup: Signup): readonly string[] {
  const { sheetTab, fields } = signup
  const own = [confirmedColumn.name, ...Object.keys(fields)].map((name) => ({
    name,
    heading: name,
  }))
  return toRow(signup, sheetTab, own).map(shownCell)
}

/** The timestamps that a cell is, or that metadata took in because there is no column for them. */
function timestampsIn(cell: string): readonly string[] {
  const text = cell.trim()
  if (isTimestamp(text)) return [text]
  return Array.from(cell.matchAll(/":"(\d{4}-[\dT:.-]{18}Z)"/g), ([, time = '']) => time)
}

/** Whether the cell is this timestamp, or metadata that took it in. */
export function hasTimestamp(cell: string, timestamp: string): boolean {
  return timestampsIn(cell).includes(timestamp)
}
