import { expect, test } from 'vitest'
import { bootService } from '../../harness/boot-service.ts'
import { postSignup } from '../../harness/post-signup.ts'

const env = { CHALLENGE_PROVIDER: 'altcha' }
const ada = { email: 'ada@example.com' }

test('CHALLENGE_PROVIDER=altcha alone turns the proof of work on, and clients learn where its puzzles are', async () => {
  await using service = await bootService({ env })
  const get = async (path: string) => (await fetch(service.url + path)).json() as Promise<unknown>
  expect(await get('/api/config')).toMatchObject({
    challengeEnabled: true,
    challengeProvider: 'altcha',
    challengeSiteKey: 'altcha',
    challengeScriptUrl: '/embed/puzzle.js',
    challengeUrl: '/api/challenge',
  })
  expect(await get('/api/ready')).toMatchObject({ challenge: { state: 'ok' } })
  expect(service.output()).toMatch(/"provider":"altcha".*the challenge is on/)
  for (const signup of [ada, { ...ada, challengeToken: 'anything' }]) {
    const refused = await postSignup(service.url, signup)
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({ detail: 'Invalid challenge token' }),
    ])
  }
})

test('a puzzle is never cached, and only pages of allowed origins get it', async () => {
  const listed = 'https://www.example.com'
  await using service = await bootService({ env: { ...env, ALLOWED_ORIGINS: listed } })
  const ask = (origin: string) => fetch(`${service.url}/api/challenge`, { headers: { origin } })
  const answer = await ask(listed)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('access-control-allow-origin')).toBe(listed)
  expect((await ask('https://evil.example')).status).toBe(403)
})
