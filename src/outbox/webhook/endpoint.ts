import { hash } from 'node:crypto'

import type { WebhookMessage, WebhookType } from '../../journal/contracts/webhook-log.ts'
import { iso } from '../../platform/clock.ts'
import type { Millis } from '../../signup/signup.ts'

/** By which the journal knows an endpoint, as it never has the URL: 32 characters, hexadecimal. */
export function endpointKeyOf(url: string): string {
  return hash('sha256', url, 'hex').slice(0, 32)
}

/** The `webhook-id`: the same in all tries, after a crash, a takeover and a restore. */
export function webhookIdOf(url: string, signupId: string, type: WebhookType): string {
  return `msg_${hash('sha256', [url, signupId, type].join('\n'), 'base64url')}`
}

/**
 * The body of a message, as JSON: docs/webhooks.md. All times are ISO 8601 in UTC.
 *
 * @param site its name
 * @param now the time of this try
 */
export function webhookBody(message: WebhookMessage, site: string, now: Millis): string {
  return JSON.stringify({ type: message.type, timestamp: iso(now), data: dataOf(message, site) })
}

function dataOf({ type, position, signup }: WebhookMessage, site: string) {
  const { id, sheetTab, email, name, source, tags, metadata, fields, confirmedAt } = signup
  if (type === 'signup.erased') return { id, site }
  return {
    ...{ id, position, site, sheetTab, receivedAt: iso(signup.receivedAt) },
    ...{ email, name, source, tags, fields },
    metadata: (metadata === '' ? {} : JSON.parse(metadata)) as unknown,
    ...(confirmedAt !== undefined && { confirmedAt: iso(confirmedAt) }),
  }
}
