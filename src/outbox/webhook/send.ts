import type { Message } from '../../journal/contracts/outbox.ts'
import type { Clock } from '../../platform/clock.ts'
import { type HttpClient, HttpFailure, type OutgoingRequest } from '../../platform/http-client.ts'
import { messageOf } from '../../platform/message-of.ts'
import type { Sent } from '../sender.ts'

/** Who receives messages. Both parts are secrets. */
export interface Receiver {
  /** Of HTTPS, or of HTTP in the own network. */
  readonly url: string
  /** 24 to 64 bytes. */
  readonly key: Uint8Array<ArrayBuffer>
}

export interface SendWorld {
  readonly http: HttpClient
  readonly clock: Pick<Clock, 'now'>
}

const timeoutMs = 15_000
const answerBytesMax = 64 * 1024

/**
 * Sends a message, of JSON, once. Every try has the same id, so that the receiver knows a repetition. The
 * reasons name at most the host of the receiver; `refused` when it wants no more messages. Never rejects.
 */
export async function sendMessage(
  { url, key }: Receiver,
  { id, body }: Pick<Message, 'id' | 'body'>,
  { http, clock }: SendWorld,
  signal: AbortSignal,
): Promise<Exclude<Sent, { kind: 'unsent' | 'down' }>> {
  const seconds = Math.floor(clock.now() / 1000)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Rollcall',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': await signatureOf(key, id, seconds, body),
  }
  const status = await statusOf({ method: 'POST', url, headers, body, timeoutMs, signal }, http)
  return typeof status === 'number' ? resultOf(status) : { kind: 'later', reason: status }
}

/** The status of the answer, or why there is none. Nobody needs the rest of the answer. */
export async function statusOf(
  request: Omit<OutgoingRequest, 'answerBytesMax'>,
  http: HttpClient,
): Promise<number | string> {
  try {
    return (await http({ ...request, answerBytesMax })).status
  } catch (error) {
    return (error instanceof HttpFailure ? error.status : undefined) ?? messageOf(error)
  }
}

function resultOf(status: number) {
  if (status >= 200 && status < 300) return { kind: 'sent' } as const
  const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : ''
  const reason = `the receiver answered with status ${status}${redirect}`
  return { kind: status === 410 ? 'refused' : 'later', reason } as const
}

/**
 * Signs a message after Standard Webhooks: the value of the header `webhook-signature`.
 *
 * @param key 24 to 64 bytes
 * @param seconds of this try, since the Unix epoch
 */
async function signatureOf(
  key: Uint8Array<ArrayBuffer>,
  id: string,
  seconds: number,
  body: string,
): Promise<string> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, hmac, false, ['sign'])
  const content = new TextEncoder().encode(`${id}.${seconds}.${body}`)
  const signature = new Uint8Array(await crypto.subtle.sign(hmac, imported, content))
  return `v1,${btoa(String.fromCharCode(...signature))}`
}
