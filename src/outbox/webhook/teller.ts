import type { WebhookMessage } from '../../journal/contracts/webhook-log.ts'
import { iso } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'
import { webhookBody, webhookIdOf } from './endpoint.ts'
import { type Received, type Receiver, sendMessage, type SendWorld } from './send.ts'

export interface Endpoint {
  /** By which the journal knows it. */
  readonly key: string
  readonly host: string
  readonly url: string
}

/** Of whom one message tells: of one signup, or of many that were accepted. */
export type Told = readonly [WebhookMessage, ...WebhookMessage[]]

/** How an endpoint is told of signups. */
export interface Teller extends Pick<Endpoint, 'key' | 'host'> {
  /** Present when one message tells of many: of how many at most, and how long after it the next one goes. */
  readonly together?: { readonly most: number; readonly gapMs: Millis }
  /** Sends a message once. It rejects only when there is no message to make. */
  tell(told: Told, stop: AbortSignal): Promise<Received>
  /** Sends a message that says that it is a test, once. */
  test(stop: AbortSignal): Promise<Received>
}

/** Tells of each signup of a site with a signed message: docs/webhooks.md. */
export function webhookTeller(
  { key, host, url, keys, site }: Endpoint & Receiver & { readonly site: string },
  world: SendWorld,
): Teller {
  const send = async (id: string, body: string, stop: AbortSignal) =>
    sendMessage({ url, keys }, { id, body }, world, stop)
  return {
    ...{ key, host },
    tell: async ([message], stop) => {
      const id = webhookIdOf(url, message.signup.id, message.type)
      return send(id, webhookBody(message, site, world.clock.now()), stop)
    },
    test: (stop) => {
      const timestamp = iso(world.clock.now())
      const body = JSON.stringify({ type: 'webhook.test', timestamp, data: { site } })
      return send(`msg_${crypto.randomUUID()}`, body, stop)
    },
  }
}
