import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectProblem } from '../../harness/expect-secured.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

const listed = 'https://www.example.com'

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
