import { chatTeller } from '../outbox/chat/teller.ts'
import type { SendWorld } from '../outbox/webhook/send.ts'
import { type Teller, webhookTeller } from '../outbox/webhook/teller.ts'
import type { SiteEndpoint } from './site.ts'

/** What tells an endpoint of signups. */
export function tellerOf(endpoint: SiteEndpoint, world: SendWorld): Teller {
  return 'chat' in endpoint ? chatTeller(endpoint, world) : webhookTeller(endpoint, world)
}
