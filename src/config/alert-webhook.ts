import { whyNoReceiverAt } from '../platform/receiver-address.ts'
import type { ParsedSetting } from './problem.ts'
import type { SettingsReader } from './reader.ts'

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
  const url = reader.required('ALERT_WEBHOOK_URL', receiverUrl, {
    problem: 'is missing, and ALERT_WEBHOOK_SECRET is set.',
    expected: urlForm,
    hint: 'Set the URL that notices go to, or remove ALERT_WEBHOOK_SECRET.',
  })
  const key = reader.required('ALERT_WEBHOOK_SECRET', webhookSecret, {
    problem: 'is missing, and ALERT_WEBHOOK_URL is set.',
    expected: secretForm,
    hint: `${makeOne}. Give it to the receiver as well, if that checks signatures.`,
  })
  return url === undefined || key === undefined ? undefined : { url, key }
}

const urlForm =
  'a URL that begins with https://, or http:// in the own network, without user name and password'

function receiverUrl(text: string): ParsedSetting<string> {
  const url = URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text)) {
    const hint = 'Copy the URL from the program that receives the notices.'
    return { problem: 'is not a URL of HTTPS or HTTP.', expected: urlForm, hint }
  }
  if (whyNoReceiverAt(url) !== undefined) {
    const hint =
      'Use https://: notices may not be read on their way. http:// is for private and loopback addresses, and a link-local address gets none.'
    return { problem: 'has an address that gets no notices.', expected: urlForm, hint }
  }
  if (url.username !== '' || url.password !== '') {
    return {
      problem: 'has a user name or a password in it.',
      expected: urlForm,
      hint: 'Remove the part before the @. The receiver knows Rollcall by the signature.',
    }
  }
  return { value: url.href }
}

const secretForm = 'whsec_ and then 24 to 64 bytes in base64'
const makeOne = 'Make one with: echo "whsec_$(openssl rand -base64 32)"'

/** Parses a secret of Standard Webhooks. */
function webhookSecret(text: string, example: string): ParsedSetting<Uint8Array<ArrayBuffer>> {
  const refused = (problem: string) => ({ problem, expected: secretForm, hint: makeOne })
  if (text === example) return refused('is the secret of our documentation, which everybody knows.')
  const base64 = /^whsec_(.*)$/s.exec(text)?.[1]
  if (base64 === undefined) return refused('does not begin with whsec_.')
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && base64.length % 4 === 0
  if (!isBase64) return refused('is not base64 after whsec_.')
  const key = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  if (key.length < 24) return refused(`has ${key.length} bytes, which is too short.`)
  if (key.length > 64) return refused(`has ${key.length} bytes, which is too long.`)
  return { value: key }
}
