import type { CallLedger, Quota } from '../journal/contracts/call-ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { CallGate } from '../spreadsheet/spreadsheet.ts'
import { createCallGate } from './call-gate.ts'
import { CallTurns } from './call-turns.ts'
import { batchBucket } from './pace.ts'
import { AccountAllowance, type BatchAllowance } from './batch-allowance.ts'

export interface AccountOptions {
  readonly ledger: CallLedger
  readonly quota: Quota
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** How many sites have the account, on this instance and others. At least 1. */
  readonly sites: number
}

/** What a site gets of its account. */
export interface AccountShare {
  readonly gate: CallGate
  readonly allowance: BatchAllowance
}

/** An account at a provider, whose quota the sites of this process share fairly. */
export class Account {
  readonly #options: AccountOptions
  readonly #turns: CallTurns
  readonly #allowance: AccountAllowance

  constructor(options: AccountOptions) {
    const { quota, sites, clock } = options
    this.#options = options
    this.#turns = new CallTurns(options)
    this.#allowance = new AccountAllowance(batchBucket(quota, sites), sites, clock)
  }

  /** To call once for each site. @param delivers whether this instance delivers for it */
  join(delivers: () => boolean = () => true): AccountShare {
    return {
      gate: createCallGate(this.#turns.join(), this.#options.clock, delivers),
      allowance: this.#allowance.join(delivers),
    }
  }
}
