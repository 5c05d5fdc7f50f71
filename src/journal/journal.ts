import type { CallLedger } from './call-ledger.ts'
import type { DeliveryLog } from './delivery-log.ts'
import type { IntakeLog } from './intake-log.ts'
import type { Reader } from './reader.ts'

/** The durable list of signups, and how far they are delivered: one interface for each of its users. */
export interface Journal extends IntakeLog, DeliveryLog, CallLedger, Reader, AsyncDisposable {}
