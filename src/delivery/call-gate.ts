import type { CallLedger, Quota } from '../journal/call-ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'

/** A call that is made so long after its reservation may fall into other windows of the quota. */
const lateMs = 1000

/**
 * Makes each call to the provider wait until the ledger has reserved it. A call that comes late is
 * reserved anew, because the process may have been suspended in between. Each time it may come twice as
 * late, so that a slow disk does not end delivery.
 */
export function createCallGate(
  ledger: CallLedger,
  quota: Quota,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
  /** Whether this instance still delivers. */
  delivers: () => boolean = () => true,
): CallGate {
  /** Waits for a reservation. Returns the elapsed time before it was asked for. */
  async function reserved(signal: AbortSignal): Promise<Millis> {
    for (;;) {
      const askedAt = clock.elapsed()
      const wait = await ledger.reserve(quota)
      if (wait === 0) return askedAt
      await clock.sleep(wait, signal)
      signal.throwIfAborted()
    }
  }

  return async (signal, maySend = async () => true) => {
    for (let maxMs = lateMs; ; maxMs *= 2) {
      const reservedAt = await reserved(signal)
      if (!(await maySend())) return false
      if (!delivers()) throw new Error('Another instance may deliver by now.')
      if (clock.elapsed() - reservedAt <= maxMs) return true
      signal.throwIfAborted()
    }
  }
}
