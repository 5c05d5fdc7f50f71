import { createHmac } from 'node:crypto'

import type { Message } from '../../journal/contracts/outbox.ts'
import { type Clock, day, second } from '../../platform/clock.ts'
import {
  type HttpAnswer,
  type HttpClient,
  HttpFailure,
  type OutgoingRequest,
} from '../../platform/http-client.ts'
import { messageOf } from '../../platform/message-of.ts'
import type { Millis } from '../../signup/signup.ts'

/** Who receives messages. Both parts are secrets. */
export interface Receiver {
  /** Of HTTPS, or of HTTP in the own network. */
  readonly url: string
  /** One, or two while one takes over from the other: each of 24 to 64 bytes. */
  readonly keys: readonly Uint8Array[]
}

export interface SendWorld {
  readonly http: HttpClient
  readonly clock: Pick<Clock, 'now'>
}

/** What became of a message, in the words of the outbox. */
export type Received = { readonly kind: 'sent' } | Unreceived

export interface Unreceived {
  /** `refused`: the receiver never takes this message. `gone`: it wants no more messages. */
  readonly kind: 'later' | 'refused' | 'gone'
  readonly reason: string
  /** How long the receiver wants to be left alone: at most a day. */
  readonly retryAfterMs?: Millis
  /** Whether it has too much to do. */
  readonly isOverloaded?: boolean
}

const timeoutMs = 15_000
/** Reasons are kept in the journal. */
const reasonMax = 200
const answerBytesMax = 64 * 1024

/**
 * Sends a message, of JSON, once. Every try has the same id, so that the receiver knows a repetition. The
 * reasons name at most the host of the receiver. Never rejects.
 */
export async function sendMessage(
  { url, keys }: Receiver,
  { id, body }: Pick<Message, 'id' | 'body'>,
  { http, clock }: SendWorld,
  signal: AbortSignal,
): Promise<Received> {
  const now = clock.now()
  const seconds = Math.floor(now / second)
  const signed = `${id}.${seconds}.${body}`
  const signatures = keys.map((key) => createHmac('sha256', key).update(signed).digest('base64'))
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    // After Standard Webhooks.
    'webhook-signature': signatures.map((it) => `v1,${it}`).join(' '),
  }
  return post({ url, headers, body, signal }, { http, clock })
}

interface Post extends Pick<OutgoingRequest, 'headers' | 'signal'> {
  readonly url: string
  /** JSON. */
  readonly body: string
  /** The seconds that the body of an answer asks to wait; 0 when it asks for nothing. */
  readonly retryAfter?: (text: string) => number
}

/** Posts JSON once. Never rejects. */
export async function post(
  { retryAfter = () => 0, headers: own, ...rest }: Post,
  { http, clock }: SendWorld,
): Promise<Received> {
  const headers = { 'content-type': 'application/json', 'user-agent': 'Rollcall', ...own }
  const answer = await answerOf({ method: 'POST', ...rest, headers, timeoutMs }, http)
  if (typeof answer === 'string') return { kind: 'later', reason: answer.slice(0, reasonMax) }
  const { status, headers: answered, text = '' } = answer
  const asked = answered?.get('retry-after') ?? ''
  return resultOf(status, Math.max(retryAfterMs(asked, clock.now()), retryAfter(text) * second))
}

/** The status of the answer, or why there is none. */
export async function statusOf(request: Request, http: HttpClient): Promise<number | string> {
  const answer = await answerOf(request, http)
  return typeof answer === 'string' ? answer : answer.status
}

type Request = Omit<OutgoingRequest, 'answerBytesMax'>

/** Nobody needs the whole of the answer. */
async function answerOf(request: Request, http: HttpClient): Promise<Answer | string> {
  try {
    return await http({ ...request, answerBytesMax })
  } catch (error) {
    const status = error instanceof HttpFailure ? error.status : undefined
    return status === undefined ? messageOf(error) : { status }
  }
}

type Answer = Pick<HttpAnswer, 'status'> & Partial<Pick<HttpAnswer, 'headers' | 'text'>>

function resultOf(status: number, waitMs: Millis): Received {
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : ''
  return {
    kind: kindOf(status),
    reason: `the receiver answered with status ${status}${redirect}`,
    retryAfterMs: Math.min(Math.ceil(waitMs), day),
    isOverloaded: [429, 502, 503, 504].includes(status),
  }
}

function kindOf(status: number): Unreceived['kind'] {
  if (status === 410) return 'gone'
  return status < 400 || status >= 500 || [408, 429].includes(status) ? 'later' : 'refused'
}

/** RFC 9110, section 10.2.3: seconds, or a date. 0 when it is neither. */
function retryAfterMs(text: string, now: Millis): Millis {
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * second : Date.parse(text) - now
  return Math.max(ms || 0, 0)
}
