import type { Misconfigured } from '../challenge/challenge.ts'
import type { Millis } from '../signup/signup.ts'
import type { AsideTab, DeliveryHealth, Warning } from '../signup/trouble.ts'

/** Whether signups can be stored. */
export interface JournalHealth {
  state: 'ok' | 'unavailable'
}

/** Whether visitors can pass the challenge, according to the last verdict that shows it. */
export type ChallengeHealth =
  | { readonly state: 'off' | 'ok' | 'unavailable' }
  | { readonly state: 'misconfigured'; readonly reason: Misconfigured['reason'] }

/** Whether mails can be sent. The reason is a fixed sentence, for the operator only. */
export type MailHealth =
  | { readonly state: 'off' | 'ok' }
  | { readonly state: 'failing'; readonly reason: string; readonly since: Millis }

/** How a webhook does. The reason is a fixed sentence, or names at most a host. */
export interface WebhookHealth {
  readonly host: string
  /** `failing`: it takes nothing, and rests between tries. `disabled`: nothing is sent. */
  readonly state: 'ok' | 'failing' | 'disabled'
  readonly reason: string
  readonly since: Millis | undefined
}

/**
 * The state of the service after the last event, for the operator. `events.ts` writes it;
 * `api/ready.ts` decides what the public may know.
 */
export interface Health {
  readonly journal: JournalHealth
  delivery: DeliveryHealth
  challenge: ChallengeHealth
  mail: MailHealth
  /** By the key of the endpoint. */
  readonly webhooks: Map<string, WebhookHealth>
  /** The tabs that are set aside, by `tabKey`. */
  readonly tabs: Map<string, AsideTab>
  /** The number of requests since the start from pages of an origin that is not allowed. */
  refusedByOrigin: number
  /** The number of requests since the start with an unknown API key. */
  refusedApiKeys: number
  /** Problems of the spreadsheet that do not stop delivery. */
  warnings: readonly Warning[]
}

/** @param journal which the healths of several sites have in common */
export function createHealth(journal: JournalHealth = { state: 'ok' }): Health {
  return {
    journal,
    delivery: { state: 'ok' },
    challenge: { state: 'off' },
    mail: { state: 'off' },
    webhooks: new Map(),
    tabs: new Map(),
    refusedByOrigin: 0,
    refusedApiKeys: 0,
    warnings: [],
  }
}
