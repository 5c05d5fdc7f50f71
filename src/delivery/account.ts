import type { Clock } from '../platform/clock.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import { AccountAllowance, type BatchAllowance, batchBucket } from './batch-allowance.ts'
import { CallTurns, type CallTurnsOptions } from './call-turns.ts'

export interface AccountShare {
  readonly gate: CallGate
  readonly allowance: BatchAllowance
}

/** A call that is made so long after its reservation may fall into other windows of the quota. */
const lateMs = 1000

/** An account at a provider, whose quota the sites of this process share fairly. */
export class Account {
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #turns: CallTurns
  readonly #allowance: AccountAllowance

  constructor(options: CallTurnsOptions) {
    const { quota, sites, clock } = options
    this.#clock = clock
    this.#turns = new CallTurns(options)
    this.#allowance = new AccountAllowance(batchBucket(quota, sites), sites, clock)
  }

  /** To call once for each site. @param delivers whether this instance delivers for it */
  join(delivers: () => boolean = () => true): AccountShare {
    const reserve = this.#turns.join()
    // A call that comes late is reserved anew, because the process may have been suspended in between.
    // Each time it may come twice as late, so that a slow disk does not end delivery.
    const gate: CallGate = async (signal, maySend = async () => true) => {
      for (let maxMs = lateMs; ; maxMs *= 2) {
        const reservedAt = await reserve(signal)
        if (!(await maySend())) return false
        if (!delivers()) throw new Error('Another instance may deliver by now.')
        if (this.#clock.elapsed() - reservedAt <= maxMs) return true
        signal.throwIfAborted()
      }
    }
    return { gate, allowance: this.#allowance.join(delivers) }
  }
}
