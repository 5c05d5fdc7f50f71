import { backoffMs } from '../spreadsheet/backoff.ts'
import { type Persist, readRows } from '../spreadsheet/read-rows.ts'
import type { Clock } from '../platform/clock.ts'
import type { RowTaker, Spreadsheet } from '../spreadsheet/spreadsheet.ts'

const triesMax = 5

interface Reading {
  readonly clock: Clock
  readonly stop: AbortSignal
  /** Told how many rows were read so far. */
  readonly onRows: (rows: number) => void
}

/**
 * Reads all rows of the spreadsheet, for a command.
 *
 * @throws Error when the spreadsheet cannot be read, when people keep changing it, and on stop; the
 *   message says what to do
 */
export async function readSpreadsheet(
  spreadsheet: Pick<Spreadsheet, 'rowReader'>,
  taker: RowTaker,
  options: Reading,
): Promise<void> {
  const read = await readRows(spreadsheet, taker, persistent(options), options.onRows)
  options.stop.throwIfAborted()
  if (read === 'read') return
  throw new Error(
    'The rows were changed each time while they were read. Run this command again when nobody ' +
      'sorts or moves rows. If nobody does, Google cannot read the title of a tab: rename it.',
  )
}

function persistent({ clock, stop }: Reading): Persist {
  return async (call) => {
    for (let tries = 1; ; tries++) {
      const result = await call(stop)
      stop.throwIfAborted()
      if (result.kind !== 'refused' && result.kind !== 'retryable') return result
      if (result.kind === 'refused') throw unreadable(result.message, result.hint)
      if (tries === triesMax) throw unreadable(result.message, 'Try again later.')
      await clock.sleep(backoffMs(tries, result.afterMs, Math.random), stop)
      stop.throwIfAborted()
    }
  }
}

function unreadable(message: string, hint: string): Error {
  return new Error(`The spreadsheet cannot be read: ${message}. ${hint}`)
}
