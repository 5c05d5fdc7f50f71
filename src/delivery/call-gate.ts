import type { CallLedger, Quota } from '../journal/call-ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'

/** Makes each call to the provider wait until the ledger has reserved it. */
export function createCallGate(
  ledger: CallLedger,
  quota: Quota,
  clock: Pick<Clock, 'sleep'>,
): CallGate {
  return async (signal) => {
    for (let wait = await ledger.reserve(quota); wait > 0; wait = await ledger.reserve(quota)) {
      await clock.sleep(wait, signal)
      signal.throwIfAborted()
    }
  }
}
