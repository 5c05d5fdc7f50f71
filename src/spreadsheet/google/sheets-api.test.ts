import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { type HttpAnswer, HttpFailure, type OutgoingRequest } from '../../platform/http-client.ts'
import type { CallGate } from '../spreadsheet.ts'
import { AccessTokens, keyTokens } from './access-token.ts'
import { type ApiRequest, SheetsApi } from './sheets-api.ts'

const { signal } = new AbortController()
const get: ApiRequest = { method: 'GET', path: '?fields=sheets' }
const unauthenticated = { status: 401, text: '{"error":{"message":"Invalid credentials."}}' }

const openGate: CallGate = async (_, maySend) => (await maySend?.()) ?? true

/** The API behind a server that gives these answers, and each request that the server gets. */
function apiWith(answers: (Partial<HttpAnswer> | Error)[], gate = openGate) {
  const sent: OutgoingRequest[] = []
  let issued = 0
  const http = async (request: OutgoingRequest) => {
    const isToken = request.url === 'http://google/token'
    if (!isToken) sent.push(request)
    if (isToken) issued += 1
    const answer = isToken
      ? { text: `{"access_token":"token-${issued}","expires_in":3599}` }
      : answers.shift()
    if (!answer || answer instanceof Error) throw answer ?? new Error('One request too many.')
    return { status: 200, headers: new Headers(), text: '{}', ...answer }
  }
  const email = 'robot@example.com'
  const sign = async () => 'assertion'
  const clock = new ManualClock()
  const ask = keyTokens({ email, sign })
  const tokens = new AccessTokens({ ask, tokenUrl: 'http://google/token', http, clock })
  const access = { email, spreadsheetId: '1/a b', setting: 'SHEETS_SHEET_ID' }
  const api = new SheetsApi({ apiUrl: 'http://google', access, http, tokens, gate })
  return { sent, call: (request = get) => api.call(request, signal) }
}

describe('a call of the Sheets API', () => {
  test('has the token, the spreadsheet and the body, and gives the JSON of the answer', async () => {
    const { call, sent } = apiWith([{ text: '{"a":1}' }, {}])
    expect(await call()).toEqual({ kind: 'ok', body: { a: 1 } })
    await call({ method: 'POST', path: ':batchUpdate', body: ['{', '}'] })
    expect(sent).toMatchObject([
      { method: 'GET', url: 'http://google/v4/spreadsheets/1%2Fa%20b?fields=sheets', signal },
      { method: 'POST', url: 'http://google/v4/spreadsheets/1%2Fa%20b:batchUpdate', signal },
    ])
    expect(sent.map(({ headers, body }) => ({ ...headers, body }))).toEqual([
      { authorization: 'Bearer token-1', body: undefined },
      { authorization: 'Bearer token-1', 'content-type': 'application/json', body: ['{', '}'] },
    ])
  })

  test('is made once more with a new token when Google does not accept the first', async () => {
    const { call, sent } = apiWith([unauthenticated, {}])
    expect(await call()).toEqual({ kind: 'ok', body: {} })
    const used = sent.map(({ headers }) => headers?.['authorization'])
    expect(used).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  test('is made twice at most, and the second refusal is for a person to mend', async () => {
    const { call, sent } = apiWith([unauthenticated, unauthenticated])
    expect(await call()).toMatchObject({ kind: 'refused', reason: 'credentials' })
    expect(sent).toHaveLength(2)
  })

  test.each([403, 404, 429, 503])('is made once when the answer is HTTP %i', async (status) => {
    const { call, sent } = apiWith([{ status, text: '{"error":{"message":"No."}}' }])
    expect(await call()).toMatchObject({ error: { status, message: 'No.' } })
    expect(sent).toHaveLength(1)
  })

  test('is not sent when its batch has ended, and may be tried again at once', async () => {
    const { call, sent } = apiWith([{}])
    const ended = { ...get, maySend: async () => false }
    expect(await call(ended)).toMatchObject({ kind: 'retryable', afterMs: 0 })
    expect(sent).toEqual([])
    expect(await call({ ...get, maySend: async () => true })).toMatchObject({ kind: 'ok' })
  })

  test.each<[string, CallGate, ApiRequest['maySend']]>([
    ['the wait for its turn', () => Promise.reject(new Error('stopped')), undefined],
    ['the look at its batch', openGate, () => Promise.reject(new Error('stopped'))],
  ])('is not sent when %s fails', async (_, gate, maySend) => {
    const { call, sent } = apiWith([{}], gate)
    expect(await call({ ...get, maySend })).toEqual({
      kind: 'retryable',
      message: 'The call was not made',
      cause: new Error('stopped'),
    })
    expect(sent).toEqual([])
  })

  test.each([['<html>'], [''], ['[]'], ['{"replies":[']])(
    'may have been applied when its answer is no JSON object: %j',
    async (text) => {
      expect(await apiWith([{ text }]).call()).toEqual({
        kind: 'unknown',
        message: 'The answer of the Sheets API is not JSON',
      })
    },
  )

  test('may have been applied when no answer came, but a mistake of ours is thrown', async () => {
    const failure = new HttpFailure('The connection was reset')
    const { call } = apiWith([failure, new TypeError('a mistake')])
    expect(await call()).toEqual({ kind: 'unknown', message: failure.message, cause: failure })
    await expect(call()).rejects.toThrow('a mistake')
  })

  test('has limits for its time and its answer', async () => {
    const { call, sent } = apiWith([{}])
    await call()
    expect(sent[0]?.timeoutMs).toBeLessThanOrEqual(180_000)
    expect(sent[0]?.answerBytesMax).toBeLessThanOrEqual(64 * 1024 * 1024)
  })
})
