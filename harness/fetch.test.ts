import { expect, test } from 'vitest'
import type { PlainAnswer } from '../src/platform/http-exchange.ts'
import { responseOf, toFetch } from './fetch.ts'

/** Asks an application that tells what reached it. */
async function reached(...given: Parameters<ReturnType<typeof toFetch>>): Promise<unknown> {
  const ask = toFetch({
    fetch: async ({ method, headers, body }, { remoteAddress }) => ({
      status: 200,
      headers: [],
      body: JSON.stringify([method, headers.get('host'), remoteAddress, body !== null]),
    }),
  })
  return (await ask(...given)).json()
}

test('a request that a program made is sent to the host of its URL', async () => {
  const request = new Request('http://signup.example.com:8080/', { method: 'POST', body: 'x' })
  const connection = { remoteAddress: '192.0.2.7' }
  expect(await reached(request, connection)).toEqual([
    'POST',
    'signup.example.com:8080',
    '192.0.2.7',
    true,
  ])
})

test('the host that the runtime tells is kept, and nobody is at the other end unless it tells so', async () => {
  const request = new Request('http://127.0.0.1/', { headers: { host: 'signup.example.com' } })
  expect(await reached(request)).toEqual(['GET', 'signup.example.com', null, false])
})

const bytes = new TextEncoder().encode('größer')

test.each<[string, PlainAnswer['body'], string, string, string | null]>([
  ['text', 'größer', 'GET', 'größer', '8'],
  ['bytes', bytes, 'GET', 'größer', '8'],
  ['text that is not sent', 'größer', 'HEAD', '', '8'],
  ['an empty body', '', 'GET', '', '0'],
  ['no body', null, 'GET', '', null],
])('an answer with %s', async (_, body, method, sent, length) => {
  const answer = responseOf({ status: 200, headers: [], body }, method)
  expect(answer.headers.get('content-length')).toBe(length)
  expect(await answer.text()).toBe(sent)
})

test.each([204, 304])('an answer that may have no body has none: %i', (status) => {
  expect(responseOf({ status, headers: [], body: null }, 'GET')).toMatchObject({
    status,
    body: null,
  })
})

test('all values of a repeated header are sent', () => {
  const headers = ['vary', 'Accept', 'vary', 'Origin', 'allow', 'GET']
  const answer = responseOf({ status: 405, headers, body: null }, 'PUT')
  expect([...answer.headers]).toEqual([
    ['allow', 'GET'],
    ['vary', 'Accept, Origin'],
  ])
})
