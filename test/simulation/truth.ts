import { type Millis, tabKey } from '../../src/signup/signup.ts'

const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute

export interface TruthOptions {
  readonly perMinute: number
  readonly perDay: number
  readonly markersMax: number
  /** Told of every row that goes into the spreadsheet. */
  readonly onRow?: (email: string) => void
}

/** By its documentation; a call that came before can be applied until then. */
const googleWorksMax = 180 * 1000

/** What is known of the sends of a batch. */
interface Sends {
  readonly firstSender: unknown
  /** When the last one was allowed, and when it left. */
  allowedAt: Millis
  leftAt: Millis
  /** A try had no clear answer. */
  isUnclear: boolean
  /** Since when another process sends it too. */
  foundAt: Millis | undefined
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
 * What is true in the simulated world, whatever the program believes; it knows every invariant and
 * keeps the first violation.
 */
export class Truth {
  violation: string | undefined
  rowsApplied = 0
  readonly #options: TruthOptions
  #isMinuteKept = true
  /** Accepted addresses by tab, in the order of the journal. */
  readonly #accepted = new Map<string, string[]>()
  readonly #acceptedAll = new Set<string>()
  /** How many of a tab's are in the spreadsheet. */
  readonly #written = new Map<string, number>()
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
    return this.#acceptedAll.size
  }

  accept(tab: string, email: string): void {
    const key = tabKey(tab)
    const accepted = this.#accepted.get(key) ?? []
    accepted.push(email)
    this.#accepted.set(key, accepted)
    this.#acceptedAll.add(email)
  }

  /** A row went into a sheet. Exactly once and in order: it must be the next one of its tab. */
  applyRow(tab: string, email: string, sheetId: number): void {
    const key = tabKey(tab)
    const written = this.#written.get(key) ?? 0
    const expected = this.#accepted.get(key)?.[written]
    if (expected !== email) {
      const before = this.#accepted.get(key)?.slice(0, written).includes(email)
      this.violate(
        before
          ? `${email} was written to ${tab} a second time`
          : `${email} was written to ${tab} where ${expected ?? 'nobody'} was next`,
      )
      return
    }
    this.#written.set(key, written + 1)
    this.rowsApplied += 1
    this.#options.onRow?.(email)
    const rows = this.#bySheet.get(sheetId) ?? []
    rows.push(email)
    this.#bySheet.set(sheetId, rows)
  }

  /** The first column of a sheet as a person sees it holds just what was written, in that order. */
  checkSheet(sheetId: number, firstColumn: readonly string[]): void {
    const seen = firstColumn.filter((cell) => this.#acceptedAll.has(cell)).join(' ')
    const written = (this.#bySheet.get(sheetId) ?? []).join(' ')
    if (seen !== written) this.violate(`sheet ${sheetId} shows "${seen}" but got "${written}"`)
  }

  /** Whenever a batch is seen, in the journal or on its way, its number means the same contents. */
  seeBatch({ number, tabs }: SeenBatch): void {
    const contents = tabs
      .map(({ tab, signups }) => `${tab}: ${signups.map(({ email }) => email).join(' ')}`)
      .sort()
      .join('; ')
    const known = this.#contents.get(number)
    if (known === undefined) this.#contents.set(number, contents)
    else if (known !== contents) {
      this.violate(`batch ${number} changed from "${known}" to "${contents}"`)
    }
  }

  /** The wall clock lied about how long the process was down, and then it was down again. */
  excuseMinute(): void {
    this.#isMinuteKept = false
  }

  /** A call of the Sheets API arrives at Google. */
  countCall(at: Millis): void {
    const { perMinute, perDay } = this.#options
    if (this.#isMinuteKept) this.#checkWindow(at, perMinute, minute)
    this.#checkWindow(at, perDay, day)
    this.#calls.push(at)
  }

  /**
   * A request that creates this marker leaves for Google, perhaps long after it was allowed: when its
   * process was stopped in between. Allowed is what the journal was asked about, with a token from before.
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

  /** A batch leaves for Google: with a token from before its end, and that lives 60 minutes. */
  checkNotOver(number: number, at: Millis): void {
    const sinceEnd = at - (this.#ends.get(number) ?? at)
    if (sinceEnd > 60 * minute) {
      this.violate(`batch ${number} was sent ${sinceEnd} ms after it had ended`)
    }
  }

  /** A request that creates this marker had no answer. */
  missAnswer(marker: number): void {
    const sends = this.#sends.get(marker)
    if (sends) sends.isUnclear = true
  }

  /** A request that deletes this marker leaves for Google: by the contract, not before its life is over. */
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
