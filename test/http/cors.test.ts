import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectProblem, expectSecured } from '../../harness/expect-secured.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { readTab } from '../../harness/read-workbook.ts'

const listed = 'https://www.example.com'
const exposed =
  'Idempotency-Replayed, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'

let open: BootedService
let strict: BootedService
beforeAll(async () => {
  open = await bootService()
  strict = await bootService({
    env: { ALLOWED_ORIGINS: `${listed}, HTTP://Localhost:8080/`, TRUST_PROXY: '1' },
  })
})
afterAll(async () => {
  await Promise.all([open.stop(), strict.stop()])
})

const signup = (service: BootedService, headers: Record<string, string>) =>
  fetch(`${service.url}/api/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{"email":"ada@example.com"}',
  })

const preflight = (service: BootedService, origin: string, path = '/api/signup') =>
  fetch(service.url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,idempotency-key',
    },
  })

test.each([listed, 'http://localhost:8080'])(
  'a signup from the listed origin %s is accepted, and the page may read the answer',
  async (origin) => {
    const answer = await signup(strict, { origin })
    expect(answer.status).toBe(202)
    expectSecured(answer)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    expect(answer.headers.get('access-control-expose-headers')).toBe(exposed)
    expect(answer.headers.get('vary')).toMatch(/\bOrigin\b/)
  },
)

test.each([
  'https://evil.example',
  'http://www.example.com',
  'https://example.com',
  'https://www.example.com.evil.example',
  'null',
  'https://www.example.com/',
])(
  'a page of an origin that is not listed is answered 403, and may not read the answer: %s',
  async (origin) => {
    for (const answer of [await signup(strict, { origin }), await preflight(strict, origin)]) {
      expect(expectProblem(answer, await answer.text(), 403)).toContain('ALLOWED_ORIGINS')
      expect(answer.headers.has('access-control-allow-origin')).toBe(false)
      expect(answer.headers.get('vary')).toMatch(/\bOrigin\b/)
    }
  },
)

test('a page that is not listed may read why it is refused from /api/config, and may load the files of a form', async () => {
  const origin = 'https://evil.example'
  const get = (path: string, method = 'GET') =>
    fetch(strict.url + path, { method, headers: { origin } })
  const refused = await get('/api/config')
  expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  expect(expectProblem(refused, await refused.text(), 403)).toContain(`Pages of ${origin} may not`)
  for (const path of ['/embed.js', '/embed/later.js', '/embed/de.json', '/assets/page.css']) {
    const file = await get(path)
    expect([file.status, file.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    await file.body?.cancel()
    expect((await get(path, 'POST')).status).toBe(403)
  }
  expect((await get('/')).status).toBe(403)
})

test('when Origin is not an origin, neither the answer nor the log quotes it', async () => {
  const origin = 'https://ada@example.com/ada@example.com'
  const answer = await signup(strict, { origin })
  const body = await answer.text()
  expect(expectProblem(answer, body, 403)).toContain('without a web origin')
  await expect.poll(() => strict.output()).toContain('"origin":"none"')
  expect(body + strict.output()).not.toContain('ada@')
})

test('a plain form of a page that is not listed is answered 403 and not stored', async () => {
  const answer = await fetch(`${strict.url}/api/signup`, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    body: new URLSearchParams({ email: 'ada@example.com', sheetTab: 'Forbidden' }),
  })
  expectProblem(answer, await answer.text(), 403)
  // Signups are written in their order.
  await signup(strict, { prefer: 'wait=20' })
  expect(readTab(`${strict.folder}/data`, 'Sheet1.csv').length).toBeGreaterThan(1)
  expect(readTab(`${strict.folder}/data`, 'Forbidden.csv')).toEqual([])
})

test('the service’s own pages may always send, even behind a proxy that ends TLS', async () => {
  const { host } = new URL(strict.url)
  expect((await signup(strict, { origin: `http://${host}` })).status).toBe(202)
  expect((await signup(strict, { origin: `https://${host}` })).status).toBe(202)
  const forwarded = { 'x-forwarded-host': 'signup.example.org', 'x-forwarded-proto': 'https' }
  expect(
    (await signup(strict, { origin: 'https://signup.example.org', ...forwarded })).status,
  ).toBe(202)
})

test.each([
  [404, '/api/nothing', {}],
  [405, '/api/signup', {}],
  [400, '/api/signup', { method: 'POST', body: '{' }],
  [415, '/api/signup', { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }],
  [422, '/api/signup', { method: 'POST', body: '{}' }],
  [413, '/api/signup', { method: 'POST', body: 'x'.repeat(1_100_000) }],
])('an allowed page may read an error %i: %s', async (status, path, init: RequestInit) => {
  const headers = new Headers({ 'content-type': 'application/json' })
  new Headers(init.headers).forEach((value, name) => headers.set(name, value))
  headers.set('origin', listed)
  const answer = await fetch(strict.url + path, { ...init, headers })
  expectProblem(answer, await answer.text(), status)
  expect(answer.headers.get('access-control-allow-origin')).toBe(listed)
  expect(answer.headers.get('access-control-expose-headers')).toBe(exposed)
})
