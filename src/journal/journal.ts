import type { Clock } from '../platform/clock.ts'
import type { CallLedger } from './call-ledger.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { IntakeLog } from './intake-log.ts'
import type { Reader } from './reader.ts'

/**
 * The durable list of one site's signups, and how far they are delivered: an interface for each of
 * its users. Disposing commits what waits and closes it.
 */
export interface Journal extends AsyncDisposable {
  readonly intake: IntakeLog
  readonly delivery: DeliveryLog
  readonly reader: Reader
  /** The calls to a provider in the name of this account, of all sites. */
  callLedger(account: string, clock: Pick<Clock, 'now' | 'elapsed'>): CallLedger
}
