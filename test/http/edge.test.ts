import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { expectProblem, expectSecured } from '../../harness/expect-secured.ts'
import type { Problem } from '../../src/signup/wire.ts'
import { sendRaw } from '../../harness/raw-http.ts'
import { failedStart } from '../../harness/start-service.ts'

let service: BootedService
beforeAll(async () => {
  service = await bootService()
})
afterAll(() => service.stop())

const someId = '01990b6e-1d1c-7c3f-8f0e-5d2a8c1b7e42'
const reading = ['/api/health', '/api/ready', '/api/config', `/api/signup/${someId}`]
const writing = ['/api/signup', '/api/signup/bulk']

const ask = async (method: string, path: string) => {
  const answer = await fetch(service.url + path, { method, redirect: 'manual' })
  return { answer, body: await answer.text() }
}

/** The headers, without those that differ between answers or connections. */
function headersOf({ headers }: Response): Record<string, string> {
  const varying = ['date', 'x-request-id', 'connection', 'keep-alive']
  return Object.fromEntries([...headers].filter(([name]) => !varying.includes(name)))
}

describe.each(reading)('the readable path %s', (path) => {
  test('answers HEAD with the headers of GET and no body', async () => {
    const get = await ask('GET', path)
    const head = await ask('HEAD', path)
    expectSecured(get.answer)
    expectSecured(head.answer)
    expect(head.answer.status).toBe(get.answer.status)
    expect(head.body).toBe('')
    expect(headersOf(head.answer)).toEqual(headersOf(get.answer))
    expect(head.answer.headers.get('content-length')).toBe(String(get.body.length))
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'])(
    'answers %s with 405 and the methods that it takes',
    async (method) => {
      const { answer, body } = await ask(method, path)
      expect(expectProblem(answer, body, 405)).toContain('GET, HEAD, OPTIONS')
      expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    },
  )

  test('answers OPTIONS with the methods that it takes', async () => {
    const { answer, body } = await ask('OPTIONS', path)
    expect([answer.status, body]).toEqual([204, ''])
    expectSecured(answer)
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(answer.headers.has('access-control-allow-methods')).toBe(false)
  })
})

describe.each(writing)('the path %s, which takes signups', (path) => {
  test.each(['GET', 'PUT', 'PATCH', 'DELETE'])(
    'answers %s with 405 and the methods that it takes',
    async (method) => {
      const { answer, body } = await ask(method, path)
      expect(expectProblem(answer, body, 405)).toContain('POST, OPTIONS')
      expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
    },
  )

  test('answers HEAD with 405 and no body', async () => {
    const { answer, body } = await ask('HEAD', path)
    expect([answer.status, body]).toEqual([405, ''])
    expectSecured(answer)
  })
})

test.each([
  '/nothing',
  '/api',
  '/api/',
  '/api/nothing',
  '//api/signup',
  '/API/signup',
  '/api/Signup',
  '/api//signup',
  '/api/signup//',
  '/api/signup/bulk/more',
  '/favicon.ico',
  '/.env',
  '/assets/../.env',
  '/assets/%2e%2e%2f.env',
  '/api/health%20',
  '/__proto__',
  '/constructor',
])('a GET or POST of %s is answered 404', async (path) => {
  for (const method of ['GET', 'POST']) {
    const { answer, body } = await ask(method, path)
    expectProblem(answer, body, 404)
  }
})

test.each(['/api/health/', '/api/config/', '/api/health?x=1', '/api/%68ealth'])(
  'a path may have a slash at its end, a query or needless encoding: %s',
  async (path) => {
    const { answer } = await ask('GET', path)
    expect(answer.status).toBe(200)
  },
)

test('a signup to a path with a slash at its end is accepted', async () => {
  const answer = await fetch(`${service.url}/api/signup/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"ada@example.com"}',
  })
  expect(answer.status).toBe(202)
  expectSecured(answer)
})

test.each([
  '%',
  '%zz',
  '%00',
  '%ff',
  '%E0%A4%A',
  '..%2f..%2fetc',
  "'",
  '%F0%9F%92%A9',
  'x'.repeat(5_000),
])('the status of a malformed id is answered 404: %s', async (id) => {
  const { answer, body } = await ask('GET', `/api/signup/${id}`)
  expectProblem(answer, body, 404)
})

describe('the id of a request', () => {
  const given = '7f1e6c1e2b9c4b6d9f00aa11bb22cc33'
  const askWith = (from: Pick<BootedService, 'url'>, id: string) =>
    fetch(`${from.url}/api/nothing`, { headers: { 'x-request-id': id } })

  test('is new for each request, even when the client sends one', async () => {
    const ids = new Set<string | null>([given])
    for (let count = 0; count < 5; count++) {
      const answer = await askWith(service, given)
      expectProblem(answer, await answer.text(), 404)
      ids.add(answer.headers.get('x-request-id'))
    }
    expect(ids.size).toBe(6)
  })

  test('is the one that a trusted proxy sends, unless that is malformed', async () => {
    await using behindProxy = await bootService({ env: { TRUST_PROXY: '1' } })
    const answer = await askWith(behindProxy, given)
    expect(answer.headers.get('x-request-id')).toBe(given)
    expect(await answer.json()).toMatchObject({ requestId: given })
    for (const bad of ['ada@example.com', 'a'.repeat(65), 'short', '<script>alert(1)</script>']) {
      const refused = await askWith(behindProxy, bad)
      expectProblem(refused, await refused.text(), 404)
    }
  })
})

test('a log line about a request carries the id that its answer had, and no other line has one', async () => {
  await using logging = await bootService()
  const answer = await fetch(`${logging.url}/api/signup`, {
    method: 'POST',
    headers: { accept: 'text/html' },
    body: new URLSearchParams({ email: 'ada@example.com', redirect: 'https://evil.example/x' }),
    redirect: 'manual',
  })
  expect(answer.status).toBe(303)
  await expect.poll(() => logging.output()).toContain('batch written')
  const lines = logging
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const ids = lines.map((line) => (JSON.parse(line) as { requestId?: string }).requestId)
  // The one line about a request is the warning of the redirect that was not followed.
  expect(ids.filter((id) => id !== undefined)).toEqual([answer.headers.get('x-request-id')])
})

test('the log has every refused request with the id of its answer, status and kind', async () => {
  await using logging = await bootService({ env: { LOG_LEVEL: 'debug' } })
  const requests = ['GET / HTTP/1.1\r\nhost: a b', 'GET /nothing HTTP/1.1\r\nhost: a']
  for (const request of requests) {
    const [answer] = await sendRaw(logging.url, `${request}\r\nconnection: close\r\n\r\n`)
    const { requestId, status } = JSON.parse(answer?.body ?? '') as Problem
    const told = `"requestId":"${requestId}","status":${status},"kind":"`
    await expect.poll(() => logging.output()).toContain(told)
  }
})

test('wrong settings of HTTP are reported all at once', async () => {
  const ended = await failedStart({
    env: {
      ALLOWED_ORIGINS: 'https://example.com/path',
      RATE_LIMIT_PER_MINUTE: '-1',
      TRUST_PROXY: 'yes',
    },
  })
  expect(ended.code).toBe(2)
  const problems = ended.output.split('\n').filter((line) => /^ {2}\w|given:/.test(line))
  expect(problems.map((line) => line.trim())).toEqual([
    'ALLOWED_ORIGINS: has an entry that is not a web origin.',
    'given:    "https://example.com/path"',
    'RATE_LIMIT_PER_MINUTE: is out of range.',
    'given:    "-1"',
    'TRUST_PROXY: is not a whole number.',
    'given:    "yes"',
  ])
})
