import type {
  LayoutChanged,
  NamedTab,
  Refused,
  Retryable,
  RowPart,
  RowReader,
  RowsEnd,
  Spreadsheet,
} from '../spreadsheet/spreadsheet.ts'

/** How often the spreadsheet is read until nobody has changed it meanwhile. */
const readingsMax = 6

/** Who takes the rows of a spreadsheet, reading by reading. */
export interface RowTaker {
  /** Begins a reading, and forgets the rows of the reading before. */
  begin(): void
  /** Takes the next rows of a tab. Other work runs meanwhile. */
  note(part: RowPart): Promise<void>
  /** Whether this reading gave the same rows as the one before, in the same order, and perhaps more below. */
  readonly isSteady: boolean
}

type Next = Awaited<ReturnType<RowReader['next']>>

/** - `restless`: people keep changing the spreadsheet, so nothing can be concluded from the rows. */
export type RowsRead =
  { readonly kind: 'read'; readonly unread: readonly NamedTab[] } | { readonly kind: 'restless' }

/** Makes a call until it succeeds; undefined on stop. */
export type Persist = (
  call: (signal: AbortSignal) => Promise<Next>,
) => Promise<Exclude<Next, Refused | Retryable> | undefined>

/**
 * Reads all rows of the spreadsheet. When that takes several calls, people may sort or
 * move rows in between, so that a row is missed. Then it reads again, until two readings agree. Undefined
 * on stop.
 */
export async function readRows(
  spreadsheet: Pick<Spreadsheet, 'rowReader'>,
  taker: RowTaker,
  persist: Persist,
): Promise<RowsRead | undefined> {
  for (let reading = 1; reading <= readingsMax; reading++) {
    taker.begin()
    await using reader = spreadsheet.rowReader()
    const end = await readOnce(reader, taker, persist)
    if (!end) return undefined
    if (end.kind === 'end' && (end.isOneMoment || taker.isSteady)) {
      return { kind: 'read', unread: end.unread }
    }
  }
  return { kind: 'restless' }
}

async function readOnce(
  reader: RowReader,
  taker: Pick<RowTaker, 'note'>,
  persist: Persist,
): Promise<RowsEnd | LayoutChanged | undefined> {
  for (;;) {
    const part = await persist((signal) => reader.next(signal))
    if (part?.kind !== 'rows') return part
    await taker.note(part)
  }
}
