import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { expectProblem } from '../../harness/expect-secured.ts'
import type { Problem } from '../../src/signup/wire.ts'
import { sendRaw } from '../../harness/raw-http.ts'
import { failedStart } from '../../harness/start-service.ts'

let service: BootedService
beforeAll(async () => {
  service = await bootService()
})
afterAll(() => service.stop())

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
