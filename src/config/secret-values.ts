import { whyNoReceiverAt } from '../platform/receiver-address.ts'
import { text, Wrong } from './kind.ts'
import { webUrl } from './values.ts'

/** The secrets of our documents, which also stand in the table of settings as examples. */
export const exampleSecrets = {
  token: 'a-long-random-text',
  otherToken: 'another-long-random-text',
  webhook: 'whsec_aZ0vSyiVtM8NdzmQkVZqIBAkMBCZnPNq',
  notices: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
} as const

/** Everybody knows what stands, or once stood, in our documents, so no setting takes it. */
const publishedSecrets: ReadonlySet<string> = new Set([
  ...Object.values(exampleSecrets),
  'Z8rKq1vWm0c7Yt5nXj3bLd9sHf2gPa6u',
])

const published = new Wrong('is that of our documentation, which everybody knows.')

/** Shorter keys can be guessed. */
const keyCharactersMin = 16

/** A key or a token that programs send as `Authorization: Bearer`. */
export const bearerToken = text(
  `a text of at least ${keyCharactersMin} visible ASCII characters without spaces`,
  (it) => {
    if (publishedSecrets.has(it)) return published
    return it.length >= keyCharactersMin && /^[\x21-\x7e]*$/.test(it) ? it : undefined
  },
  'Make it with a password generator, or with: openssl rand -hex 32. Commas stand between two keys.',
)

/** Where messages go. @param copy what to do about another value */
const messagesTo = (copy: string) =>
  text(
    'a URL of HTTPS, or of HTTP in the own network, without user name and password',
    (it) => {
      const url = webUrl(it)
      if (!url || whyNoReceiverAt(url) === undefined) return url?.href
      const hint =
        'Use https://: messages may not be read on their way. http:// is for private and loopback addresses, and a link-local address gets none.'
      return new Wrong('has an address that gets no messages.', hint)
    },
    copy,
  )

export const receiverUrl = messagesTo(
  'Copy the URL from the program that receives the messages. It knows Rollcall by the signature.',
)

export const channelUrl = messagesTo("Copy the URL of the channel's webhook.")

/** A key that signs messages: 24 to 64 bytes. */
export type WebhookKey = Uint8Array<ArrayBuffer>

/** A secret of Standard Webhooks, or two of them while one takes the place of the other. */
export const webhookSecrets = text(
  'whsec_ and then 24 to 64 bytes in base64: one, or two with a space between them while one takes the place of the other',
  (it): readonly WebhookKey[] | Wrong | undefined => {
    const secrets = it.split(/\s+/)
    if (secrets.some((secret) => publishedSecrets.has(secret))) return published
    const keys = secrets.flatMap((secret) => webhookKey(secret) ?? [])
    return keys.length === secrets.length && keys.length <= 2 ? keys : undefined
  },
  'Make one with: echo "whsec_$(openssl rand -base64 32)".',
)

function webhookKey(secret: string): WebhookKey | undefined {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? ''
  const isWhole = base64.length % 4 === 0
  const key = Uint8Array.from(isWhole ? atob(base64) : '', (it) => it.charCodeAt(0))
  return key.length >= 24 && key.length <= 64 ? key : undefined
}
