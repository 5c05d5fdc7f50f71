import { unlessUnavailable } from '../journal/contracts/errors.ts'
import type { OpenJournal } from '../journal/contracts/journal.ts'
import { type Clock, everySo, second } from '../platform/clock.ts'

/** How often to look, and how long to rest after each slice, so that intake and delivery go first. */
const [everyMs, restMs] = [5 * second, 20]

/** Counts new signups by tab and by source, a slice at a time. Disposing ends it. */
export function startCounting(
  journal: Pick<OpenJournal, 'countNext'>,
  clock: Pick<Clock, 'sleep'>,
  log: { warn(details: object, message: string): void },
): AsyncDisposable {
  const count = async (signal: AbortSignal) => {
    while (!signal.aborted && (await unlessUnavailable(journal.countNext()))) {
      await clock.sleep(restMs, signal)
    }
  }
  return everySo(clock, everyMs, count, (error) => {
    log.warn({ err: error }, 'signups were not counted by tab and source: tried again later')
  })
}
