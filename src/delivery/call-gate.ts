import type { Clock } from '../platform/clock.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import type { ReserveCall } from './call-turns.ts'

/** A call that is made so long after its reservation may fall into other windows of the quota. */
const lateMs = 1000

/**
 * Makes each call to the provider wait until it is reserved. A call that comes late is reserved anew,
 * because the process may have been suspended in between. Each time it may come twice as late, so that a
 * slow disk does not end delivery.
 */
export function createCallGate(
  reserve: ReserveCall,
  clock: Pick<Clock, 'elapsed'>,
  /** Whether this instance still delivers. */
  delivers: () => boolean = () => true,
): CallGate {
  return async (signal, maySend = async () => true) => {
    for (let maxMs = lateMs; ; maxMs *= 2) {
      const reservedAt = await reserve(signal)
      if (!(await maySend())) return false
      if (!delivers()) throw new Error('Another instance may deliver by now.')
      if (clock.elapsed() - reservedAt <= maxMs) return true
      signal.throwIfAborted()
    }
  }
}
