import type {
  NextRows,
  Refused,
  Retryable,
  RowReader,
  RowPart,
  RowTaker,
  Spreadsheet,
} from './spreadsheet.ts'

/** How often the spreadsheet is read until nobody has changed it meanwhile. */
const readingsMax = 6

/** Makes a call until it succeeds; undefined on stop. */
export type Persist = (
  call: (signal: AbortSignal) => Promise<NextRows>,
) => Promise<Exclude<NextRows, Refused | Retryable> | undefined>

/**
 * Reads all rows of the spreadsheet. When that takes several calls, people may sort or
 * move rows in between, so that a row is missed. Then it reads again, until two readings agree;
 * `restless` when they never do, so that nothing can be concluded from the rows. Undefined on stop.
 *
 * @param onRows is told how many rows of a reading were taken so far
 */
export async function readRows(
  spreadsheet: Pick<Spreadsheet, 'rowReader'>,
  taker: RowTaker,
  persist: Persist,
  onRows: (rows: number) => void = () => {},
): Promise<'read' | 'restless' | undefined> {
  // Whether the reading before came to its end.
  let isWhole = false
  for (let reading = 1; reading <= readingsMax; reading++) {
    taker.begin()
    await using reader = spreadsheet.rowReader()
    const end = await readOnce(reader, taker, persist, onRows)
    if (!end) return undefined
    if (end.kind === 'end' && (end.isOneMoment || (isWhole && taker.isSteady))) {
      return 'read'
    }
    isWhole = end.kind === 'end'
  }
  return 'restless'
}

async function readOnce(
  reader: RowReader,
  taker: Pick<RowTaker, 'note'>,
  persist: Persist,
  onRows: (rows: number) => void,
): Promise<Exclude<Awaited<ReturnType<Persist>>, RowPart>> {
  for (let rows = 0; ;) {
    const part = await persist((signal) => reader.next(signal))
    if (part?.kind !== 'rows') return part
    await taker.note(part)
    onRows((rows += part.rows.length))
  }
}
