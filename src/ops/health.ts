import type { RefusalReason, Warning } from '../signup/trouble.ts'

/** Whether signups reach the spreadsheet. */
export type DeliveryHealth =
  | { readonly state: 'ok' }
  /** Failing for a reason that may pass by itself. */
  | { readonly state: 'delayed'; readonly error: string }
  /** Only a person can mend it. */
  | ({ readonly state: 'blocked' } & Trouble)

/** What only a person can mend. `reason` is for the public, the rest for the operator alone. */
export interface Trouble {
  readonly reason: RefusalReason
  readonly error: string
  readonly hint: string
}

export interface AsideTab extends Trouble {
  readonly name: string
  /** What a person finds it by, without its name, which is a visitor's. */
  readonly place: string
}

/** Whether signups can be stored. */
export type JournalHealth = { readonly state: 'ok' } | { readonly state: 'unavailable' }

/** What is wrong with the settings of the challenge. */
export type SetupProblem = 'mismatch' | 'refused'

/** Whether visitors can pass the challenge, as of the last verdict that shows it. */
export type ChallengeHealth =
  | { readonly state: 'off' }
  | { readonly state: 'ok' }
  | {
      readonly state: 'misconfigured'
      readonly reason: SetupProblem
      readonly error: string
      readonly hint: string
    }
  | { readonly state: 'unavailable'; readonly error: string }

/**
 * How the service is, as of the last event: all that the operator may know. Written by `events.ts`;
 * what `/api/ready` and the 202 say of it in public is in `intake/readiness.ts`.
 */
export interface Health {
  journal: JournalHealth
  delivery: DeliveryHealth
  challenge: ChallengeHealth
  /** What keeps single tabs from being written, by `tabKey`. */
  readonly tabs: Map<string, AsideTab>
  /** Requests since the start that came from pages of an origin that is not allowed. */
  refusedByOrigin: number
  /** Requests since the start that came with an API key that is none of ours. */
  refusedApiKeys: number
  /** What the operator should know while rows still go in. */
  warnings: readonly Warning[]
}

export function createHealth(): Health {
  return {
    journal: { state: 'ok' },
    delivery: { state: 'ok' },
    challenge: { state: 'off' },
    tabs: new Map(),
    refusedByOrigin: 0,
    refusedApiKeys: 0,
    warnings: [],
  }
}
