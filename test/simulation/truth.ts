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
  /** Called for every row that is written to the spreadsheet. */
  readonly onRow?: (email: string) => void
}

/** How long Google may work on a call, by its documentation: until then it may still apply it. */
const googleWorksMax = 180 * 1000

/** What is known about the requests that carried a batch. */
interface Sends {
  readonly firstSender: unknown
  /** When the last request was allowed, and when it left. */
  allowedAt: Millis
  leftAt: Millis
  /** Whether a request had no clear answer. */
  isUnclear: boolean
  /** When a second process was first allowed to send the batch. */
  foundAt: Millis | undefined
}

/** A sheet as people see it. */
export interface ShownSheet {
  readonly sheetId: number
  readonly rows: readonly (readonly string[])[]
}

/** A batch, as frozen or as sent. */
interface SeenBatch {
  readonly number: number
  readonly tabs: readonly {
    readonly tab: string
    readonly signups: readonly { readonly email: string }[]
  }[]
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
  #isMinuteKept = true
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
  readonly #contents = new Map<number, string>()
  readonly #calls: Millis[] = []
  readonly #sends = new Map<number, Sends>()
  /** When each batch was settled or released, by number. */
  readonly #ends = new Map<number, Millis>()

  constructor(options: TruthOptions) {
    this.#options = options
  }

  violate(what: string): void {
    this.violation ??= what
  }

  /** When calls of the Sheets API arrived at Google. */
  get calls(): readonly Millis[] {
    return this.#calls
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
      this.#options.onRow?.(email)
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

  /** Checks that a batch has the same contents whenever it is seen, in the journal or in a request. */
  seeBatch({ number, tabs }: SeenBatch): void {
    const contents = tabs
      .filter(({ signups }) => signups.length > 0)
      .map(({ tab, signups }) => `${tab}: ${signups.map(({ email }) => email).join(' ')}`)
      .sort()
      .join('; ')
    const known = this.#contents.get(number)
    if (known === undefined) this.#contents.set(number, contents)
    else if (known !== contents) {
      this.violate(`batch ${number} changed from "${known}" to "${contents}"`)
    }
  }

  /** Checks the quota of a minute no more: a wall clock that was set ahead has lost count of it. */
  excuseMinute(): void {
    this.#isMinuteKept = false
  }

  /** Counts a call of the Sheets API that arrives at Google, and checks the quota. */
  countCall(at: Millis): void {
    const { perMinute, perDay } = this.#options
    if (this.#isMinuteKept) this.#checkWindow(at, perMinute, minute)
    this.#checkWindow(at, perDay, day)
    this.#calls.push(at)
  }

  /**
   * Notes that a request which creates this marker leaves for Google. It may leave long after it was
   * allowed, when its process was stopped in between. It was allowed at the later one of these times:
   * when the journal said that its batch is still frozen, and when its access token was issued.
   */
  sendMarker(marker: number, allowedAt: Millis, leftAt: Millis, sender: unknown): void {
    const known = this.#sends.get(marker)
    const first = { firstSender: sender, isUnclear: false, foundAt: undefined }
    const sends = { ...(known ?? first), allowedAt, leftAt }
    if (sends.firstSender !== sender) sends.foundAt ??= allowedAt
    this.#sends.set(marker, sends)
  }

  batchEnded(number: number, at: Millis): void {
    this.#ends.set(number, at)
  }

  /** Checks that no batch is sent over 60 minutes after its end: an access token from before has run out. */
  checkNotOver(number: number, at: Millis): void {
    const sinceEnd = at - (this.#ends.get(number) ?? at)
    if (sinceEnd > 60 * minute) {
      this.violate(`batch ${number} was sent ${sinceEnd} ms after it had ended`)
    }
  }

  /** Notes that a request which creates this marker had no answer. */
  missAnswer(marker: number): void {
    const sends = this.#sends.get(marker)
    if (sends) sends.isUnclear = true
  }

  /** Checks that a request which deletes this marker leaves after the marker's lifetime. */
  pruneMarker(marker: number, at: Millis): void {
    const sends = this.#sends.get(marker)
    if (!sends) return
    const sinceSent = at - sends.allowedAt
    const sinceFound = at - (sends.foundAt ?? -Infinity)
    const life = (sends.isUnclear ? 15 : 4) * minute
    const mayStillLand = at - sends.leftAt < googleWorksMax
    if (sinceSent < life || sinceFound < 65 * minute || mayStillLand) {
      this.violate(
        `a marker was pruned ${at - sends.leftAt} ms after a send of its batch, ${sinceSent} ms after the ` +
          `last one was allowed, ${sinceFound} ms after one of a second process was`,
      )
    }
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
