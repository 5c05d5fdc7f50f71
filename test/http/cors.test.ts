import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectProblem } from '../../harness/expect-secured.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { readTab } from '../../harness/read-workbook.ts'

const listed = 'https://www.example.com'
const exposed =
  'Idempotency-Replayed, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'

let strict: BootedService
beforeAll(async () => {
  strict = await bootService({
    env: { ALLOWED_ORIGINS: listed },
  })
})
afterAll(() => strict.stop())

const signup = (headers: Record<string, string>) =>
  fetch(`${strict.url}/api/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{"email":"ada@example.com"}',
  })

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
  const answer = await signup({ origin })
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
  await signup({ prefer: 'wait=20' })
  expect(readTab(`${strict.folder}/data`, 'Sheet1.csv').length).toBeGreaterThan(1)
  expect(readTab(`${strict.folder}/data`, 'Forbidden.csv')).toEqual([])
})

test.each([
  [404, '/api/nothing', {}],
  [400, '/api/signup', { method: 'POST', body: '{' }],
  [422, '/api/signup', { method: 'POST', body: '{}' }],
  [413, '/api/signup', { method: 'POST', body: 'x'.repeat(1_100_000) }],
])('an allowed page may read an error %i: %s', async (status, path, init: RequestInit) => {
  const headers = { 'content-type': 'application/json', origin: listed }
  const answer = await fetch(strict.url + path, { ...init, headers })
  expectProblem(answer, await answer.text(), status)
  expect(answer.headers.get('access-control-allow-origin')).toBe(listed)
  expect(answer.headers.get('access-control-expose-headers')).toBe(exposed)
})
