/** Whether signups reach the spreadsheet. */
export type DeliveryHealth =
  | { readonly state: 'ok' }
  /** Failing for a reason that may pass by itself. */
  | { readonly state: 'delayed'; readonly error: string }
  /** Only a person can mend it. */
  | { readonly state: 'blocked'; readonly error: string; readonly hint: string }

/** Whether signups can be stored. */
export type JournalHealth = { readonly state: 'ok' } | { readonly state: 'unavailable' }

/** Whether visitors can pass the challenge, as of the last verdict that shows it. */
export type ChallengeHealth =
  | { readonly state: 'off' }
  | { readonly state: 'ok' }
  | { readonly state: 'misconfigured'; readonly error: string; readonly hint: string }
  | { readonly state: 'unavailable'; readonly error: string }

/** How the service is, as of the last event. Written by `events.ts`, read by `/api/ready` and the 202. */
export interface Health {
  journal: JournalHealth
  delivery: DeliveryHealth
  challenge: ChallengeHealth
  /** What keeps single tabs from being written, by `tabKey`. */
  readonly tabs: Map<string, string>
  /** Requests since the start that came from pages of an origin that is not allowed. */
  refusedByOrigin: number
  /** Requests since the start that came with an API key that is none of ours. */
  refusedApiKeys: number
  /** What the operator should know while rows still go in. */
  warnings: readonly string[]
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
