import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'

import { type HttpAnswer, type HttpClient, HttpFailure } from '../../platform/http-client.ts'
import { sendMessage } from './send.ts'

/** Sends a message with this body, signed with these keys. */
function send(
  http: HttpClient,
  { keys = [new Uint8Array(32)], body = '{}', now = Date.now }: Partial<Sending> = {},
) {
  const receiver = { url: 'https://hooks.example.com', keys }
  const { signal } = new AbortController()
  return sendMessage(receiver, { id: 'msg_1', body }, { http, clock: { now } }, signal)
}

interface Sending {
  readonly keys: readonly Uint8Array[]
  readonly body: string
  readonly now: () => number
}

const answering =
  (status: number, headers = new Headers()) =>
  async (): Promise<HttpAnswer> => ({ status, headers, text: '' })

test('the library of Standard Webhooks verifies a message, its time included', async () => {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const body = '{"a":"ü"}'
  const sent: unknown[] = []
  const http: HttpClient = async ({ headers = {} }) => {
    sent.push(new Webhook(key, { format: 'raw' }).verify(body, headers))
    return { status: 204, headers: new Headers(), text: '' }
  }
  expect(await send(http, { keys: [key], body })).toEqual({ kind: 'sent' })
  expect(sent).toEqual([{ a: 'ü' }])
})

test.each([
  [199, 'later'],
  [200, 'sent'],
  [299, 'sent'],
  [300, 'later'],
  [399, 'later'],
  [408, 'later'],
  [409, 'refused'],
  [410, 'gone'],
  [429, 'later'],
])('status %i means that a message is %s', async (status, kind) => {
  const sent = await send(answering(status))
  expect(sent.kind).toBe(kind)
  const isRedirect = 'reason' in sent && sent.reason.endsWith(', and redirects are not followed')
  expect(isRedirect).toBe(status >= 300 && status < 400)
})

test('a message is received by a status of 2xx within 15 seconds, whatever becomes of the rest of the answer', async () => {
  const failure = (status: number) => new HttpFailure('cut', { isTooLarge: true, status })
  expect(await send(() => Promise.reject(failure(200)))).toEqual({ kind: 'sent' })
  expect(await send(() => Promise.reject(failure(503)))).toMatchObject({ kind: 'later' })
  const late: HttpClient = ({ timeoutMs }) => Promise.reject(new Error(`after ${timeoutMs} ms`))
  expect(await send(late)).toEqual({ kind: 'later', reason: 'after 15000 ms' })
})

test('while two secrets are set, a receiver that knows one of them verifies a message', async () => {
  const keys = [1, 2].map((byte) => new Uint8Array(32).fill(byte))
  const body = '{}'
  let verified = 0
  const http: HttpClient = async ({ headers = {} }) => {
    for (const key of keys) {
      new Webhook(key, { format: 'raw' }).verify(body, headers)
      verified += 1
    }
    return { status: 204, headers: new Headers(), text: '' }
  }
  await send(http, { keys, body })
  expect(verified).toBe(2)
})

test.each([
  ['120', 120_000],
  ['Fri, 20 Nov 2026 12:01:00 GMT', 60_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['999999', 86_400_000],
  ['soon', 0],
])('Retry-After: %s', async (text, retryAfterMs) => {
  const headers = new Headers({ 'retry-after': text })
  const now = () => Date.UTC(2026, 10, 20, 12)
  expect(await send(answering(429, headers), { now })).toMatchObject({ retryAfterMs })
})
