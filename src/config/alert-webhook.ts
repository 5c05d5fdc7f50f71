import type { SettingsReader } from './reader.ts'
import {
  makeWebhookSecret,
  receiverForm,
  receiverUrl,
  webhookSecret,
  webhookSecretForm,
} from './values.ts'

/** Where notices go. All of it is secret: the URL of a chat program allows to post. */
export interface AlertWebhook {
  readonly url: string
  /** With which notices are signed: 24 to 64 bytes. */
  readonly key: Uint8Array<ArrayBuffer>
}

/** The receiver of notices; undefined when there is none. Refuses one of the two settings without the other. */
export function readAlertWebhook(reader: SettingsReader): AlertWebhook | undefined {
  const [hasUrl, hasSecret] = [
    reader.text('ALERT_WEBHOOK_URL') !== undefined,
    reader.text('ALERT_WEBHOOK_SECRET') !== undefined,
  ]
  if (!hasUrl && !hasSecret) return undefined
  const url = reader.required(
    'ALERT_WEBHOOK_URL',
    {
      problem: 'is missing, and ALERT_WEBHOOK_SECRET is set.',
      expected: receiverForm,
      hint: 'Set the URL that notices go to, or remove ALERT_WEBHOOK_SECRET.',
    },
    receiverUrl,
  )
  const key = reader.required(
    'ALERT_WEBHOOK_SECRET',
    {
      problem: 'is missing, and ALERT_WEBHOOK_URL is set.',
      expected: webhookSecretForm,
      hint: `${makeWebhookSecret}. Give it to the receiver as well, if that checks signatures.`,
    },
    webhookSecret,
  )
  return url === undefined || key === undefined ? undefined : { url, key }
}
