import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'

import { type HttpAnswer, type HttpClient, HttpFailure } from '../../platform/http-client.ts'
import { sendMessage } from './send.ts'

test('the library of Standard Webhooks verifies a message, its time included', async () => {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const body = '{"a":"ü"}'
  const sent: unknown[] = []
  const http: HttpClient = async ({ headers = {} }) => {
    sent.push(new Webhook(key, { format: 'raw' }).verify(body, headers))
    return { status: 204, headers: new Headers(), text: '' }
  }
  const receiver = { url: 'https://hooks.example.com', keys: [key] }
  const world = { http, clock: { now: Date.now } }
  const { signal } = new AbortController()
  expect(await sendMessage(receiver, { id: 'msg_1', body }, world, signal)).toEqual({
    kind: 'sent',
  })
  expect(sent).toEqual([{ a: 'ü' }])
})

test.each([
  [199, 'later'],
  [200, 'sent'],
  [299, 'sent'],
  [300, 'later'],
  [399, 'later'],
  [409, 'later'],
  [410, 'refused'],
])('status %i means that a message is %s', async (status, kind) => {
  const http = async (): Promise<HttpAnswer> => ({ status, headers: new Headers(), text: '' })
  const receiver = { url: 'https://hooks.example.com', keys: [new Uint8Array(32)] }
  const world = { http, clock: { now: () => 0 } }
  const { signal } = new AbortController()
  const sent = await sendMessage(receiver, { id: 'a', body: '{}' }, world, signal)
  expect(sent.kind).toBe(kind)
  const isRedirect = 'reason' in sent && sent.reason.endsWith(', and redirects are not followed')
  expect(isRedirect).toBe(status >= 300 && status < 400)
})

test('a message is received by a status of 2xx within 15 seconds, whatever becomes of the rest of the answer', async () => {
  const receiver = { url: 'https://hooks.example.com', keys: [new Uint8Array(32)] }
  const sendBy = (http: HttpClient) => {
    const world = { http, clock: { now: () => 0 } }
    return sendMessage(receiver, { id: 'a', body: '{}' }, world, new AbortController().signal)
  }
  const failure = (status: number) => new HttpFailure('cut', { isTooLarge: true, status })
  expect(await sendBy(() => Promise.reject(failure(200)))).toEqual({ kind: 'sent' })
  expect(await sendBy(() => Promise.reject(failure(503)))).toMatchObject({ kind: 'later' })
  const late: HttpClient = ({ timeoutMs }) => Promise.reject(new Error(`after ${timeoutMs} ms`))
  expect(await sendBy(late)).toEqual({ kind: 'later', reason: 'after 15000 ms' })
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
  const world = { http, clock: { now: Date.now } }
  const receiver = { url: 'https://hooks.example.com', keys }
  await sendMessage(receiver, { id: 'a', body }, world, new AbortController().signal)
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
  const http = async (): Promise<HttpAnswer> => ({ status: 429, headers, text: '' })
  const receiver = { url: 'https://hooks.example.com', keys: [new Uint8Array(32)] }
  const world = { http, clock: { now: () => Date.UTC(2026, 10, 20, 12) } }
  const { signal } = new AbortController()
  expect(await sendMessage(receiver, { id: 'a', body: '{}' }, world, signal)).toMatchObject({
    retryAfterMs,
  })
})
