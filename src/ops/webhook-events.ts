import { rollcall } from '../platform/command-words.ts'
import type { Millis } from '../signup/signup.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'
import type { SiteMetrics } from './metrics.ts'

/** How an endpoint does, as `EndpointFare` of the journal has it. */
interface Fare {
  readonly failingSince: Millis | undefined
  readonly disabledAt: Millis | undefined
  readonly reason: string
}

/** @param endpoint its key */
export function followWebhook(
  health: Pick<Health, 'webhooks'>,
  endpoint: string,
  host: string,
  { failingSince, disabledAt, reason }: Fare,
): void {
  const since = disabledAt ?? failingSince
  const state = since === undefined ? 'ok' : disabledAt === undefined ? 'failing' : 'disabled'
  health.webhooks.set(endpoint, { host, state, reason, since })
}

/** Events about messages to webhooks. They know hosts only: a URL may be a secret. */
export function webhookEvents(log: Logger, health: Pick<Health, 'webhooks'>, metrics: SiteMetrics) {
  return {
    webhookSent: (): void => metrics.add('webhook_messages_total', 1, 'sent'),
    webhookDelayed(host: string, tries: number, reason: string, nextAt: Millis): void {
      metrics.add('webhook_messages_total', 1, 'delayed')
      const next = new Date(nextAt).toISOString()
      log.debug({ host, tries, reason, next }, 'a webhook message is tried again later')
    },
    webhookFailed(host: string, tries: number, reason: string): void {
      metrics.add('webhook_messages_total', 1, 'failed')
      log.warn(
        { host, tries, reason },
        `a webhook message has failed: see ${rollcall('webhooks failed')}`,
      )
    },
    webhookFares(endpoint: string, host: string, fare: Fare): void {
      const before = health.webhooks.get(endpoint)?.state ?? 'ok'
      followWebhook(health, endpoint, host, fare)
      const state = health.webhooks.get(endpoint)?.state
      if (state === before) return
      const { reason } = fare
      const hint = `Run ${rollcall('webhooks')} to see what to do.`
      if (state === 'ok') log.info({ host }, 'a webhook works again')
      else log.warn({ host, reason, hint }, `a webhook is ${state}: its messages are kept`)
    },
    /** Our own code failed. */
    webhooksCrashed(error: unknown): void {
      log.error({ err: error }, 'the sending of webhooks failed unexpectedly')
    },
  }
}
