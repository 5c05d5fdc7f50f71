import { unlessUnavailable } from '../journal/contracts/errors.ts'
import type { OpenJournal } from '../journal/contracts/journal.ts'
import { type Clock, everySo, second } from '../platform/clock.ts'

/** How often to look, and how long to rest after each slice, so that intake and delivery go first. */
const [everyMs, restMs] = [5 * second, 20]

type Counted = Pick<OpenJournal, 'countNext'>

/** Counts new signups by tab and by source, now and then. Disposing ends it. */
export function startCounting(
  journal: Counted,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
  log: { warn(details: object, message: string): void },
): AsyncDisposable {
  const count = (signal: AbortSignal) => unlessUnavailable(countAll(journal, clock, signal))
  return everySo(clock, everyMs, count, (error) => {
    log.warn({ err: error }, 'signups were not counted by tab and source: tried again later')
  })
}

/** Counts all that are not counted yet, a slice at a time, until the signal aborts. */
export async function countAll(
  journal: Counted,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await journal.countNext())) await clock.sleep(restMs, signal)
}
