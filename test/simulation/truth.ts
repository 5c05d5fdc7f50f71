import { type Millis, tabKey } from '../../src/signup/signup.ts'
import { VersionHistory } from './version-history.ts'

const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute

export interface TruthOptions {
  readonly perMinute: number
  readonly perDay: number
  readonly markersMax: number
  /** Whether only the first signup of an address gets a row. */
  readonly ignoresDuplicates?: boolean
}

/** A sheet as people see it. */
export interface ShownSheet {
  readonly sheetId: number
  readonly rows: readonly (readonly string[])[]
}

/**
 * What really happened in the simulation, whatever the program believes. Checks every invariant and
 * keeps the first violation.
 */
export class Truth {
  violation: string | undefined
  rowsApplied = 0
  readonly history = new VersionHistory()
  readonly #options: TruthOptions
  #jumpsAhead = 0
  /** When processes started after the first jump ahead. */
  readonly #startsAhead: Millis[] = []
  /** Addresses in the journal that get a row, by tab, in the order of the journal. */
  readonly #accepted = new Map<string, string[]>()
  /** The tab of each accepted address. */
  readonly #tabs = new Map<string, string>()
  /** Accepted addresses in lower case, as those that differ in case only are one address. */
  readonly #known = new Set<string>()
  /** How many rows of each tab were written. */
  readonly #written = new Map<string, number>()
  /** The addresses that each sheet has to show. */
  readonly #bySheet = new Map<number, string[]>()
  readonly #calls: Millis[] = []

  constructor(options: TruthOptions) {
    this.#options = options
  }

  violate(what: string): void {
    this.violation ??= what
  }

  get acceptedCount(): number {
    return this.#tabs.size
  }

  /** Notes that a signup is in the journal, behind those from before. */
  accept(tab: string, email: string): void {
    const address = email.toLowerCase()
    if (this.#known.has(address)) {
      if (!this.#options.ignoresDuplicates) this.violate(`${email} is in the journal twice`)
      return
    }
    this.#known.add(address)
    const key = tabKey(tab)
    const accepted = this.#accepted.get(key) ?? []
    accepted.push(email)
    this.#accepted.set(key, accepted)
    this.#tabs.set(email, tab)
  }

  tabOf(email: string): string {
    return this.#tabs.get(email) ?? ''
  }

  /** Notes that a visitor was told that the signup is safe. */
  promise(email: string): void {
    if (this.#known.has(email.toLowerCase())) return
    this.violate(`${email} was accepted and is not in the journal`)
  }

  /** Notes that a row was written. It must be the next one of its tab: so each comes once, in order. */
  applyRow(email: string, sheetId: number, marker: number | undefined): void {
    const tab = this.tabOf(email)
    const key = tabKey(tab)
    const written = this.#written.get(key) ?? 0
    const expected = this.#accepted.get(key)?.[written]
    if (expected === email) {
      this.#written.set(key, written + 1)
      this.rowsApplied += 1
    } else if (!this.history.mayComeAgain(email, marker)) {
      const before = this.#accepted.get(key)?.slice(0, written).includes(email)
      this.violate(
        before
          ? `${email} was written to ${tab} a second time`
          : `${email} was written to ${tab} where ${expected ?? 'nobody'} was next`,
      )
      return
    }
    this.history.written(email, marker)
    const rows = this.#bySheet.get(sheetId) ?? []
    rows.push(email)
    this.#bySheet.set(sheetId, rows)
  }

  /** Checks that a sheet shows the written addresses in order, and no others of ours. */
  checkSheet({ sheetId, rows }: ShownSheet): void {
    const seen = this.#addressesIn(rows).join(' ')
    const written = (this.#bySheet.get(sheetId) ?? []).join(' ')
    if (seen !== written) this.violate(`sheet ${sheetId} shows "${seen}" but got "${written}"`)
  }

  /** Notes what the sheets show after a person has changed them. */
  replaceSheets(sheets: readonly ShownSheet[]): void {
    this.#bySheet.clear()
    for (const { sheetId, rows } of sheets) this.#bySheet.set(sheetId, this.#addressesIn(rows))
  }

  #addressesIn(rows: readonly (readonly string[])[]): string[] {
    return rows.flatMap((cells) => cells.find((cell) => this.#tabs.has(cell)) ?? [])
  }

  /** Notes that the wall clock is set ahead. `CallLedger` says what is promised from then on. */
  setAhead(): void {
    this.#jumpsAhead += 1
  }

  /** Notes that a process starts. */
  start(at: Millis): void {
    if (this.#jumpsAhead > 0) this.#startsAhead.push(at)
  }

  /**
   * Counts a call of the Sheets API that arrives at Google, and checks the quota. Each jump ahead may make
   * earlier calls look older once: for the day, from the next start on; for a minute in which a process
   * starts twice, too. So a window may then have as many calls again, and no more.
   */
  countCall(at: Millis): void {
    const { perMinute, perDay } = this.#options
    const windows = 1 + this.#jumpsAhead
    const startedTwice = at - (this.#startsAhead.at(-2) ?? -Infinity) < 2 * minute
    this.#checkWindow(at, startedTwice ? perMinute * windows : perMinute, minute)
    this.#checkWindow(at, this.#startsAhead.length > 0 ? perDay * windows : perDay, day)
    this.#calls.push(at)
  }

  countMarkers(standing: number): void {
    if (standing > this.#options.markersMax) this.violate(`${standing} markers stand`)
  }

  #checkWindow(at: Millis, max: number, length: Millis): void {
    const first = this.#calls.at(-max)
    if (first !== undefined && at - first < length) {
      this.violate(`${max + 1} calls came within ${at - first} ms`)
    }
  }
}
