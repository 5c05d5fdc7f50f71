import { expect, test } from 'vitest'
import { expectProblem } from '../../harness/expect-secured.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { openRaw, sendRaw } from '../../harness/raw-http.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { startService } from '../../harness/start-service.ts'

const behindProxy = { TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '3' }

const signup = (
  service: BootedService,
  forwardedFor: string,
  body = '{"email":"ada@example.com"}',
) =>
  fetch(`${service.url}/api/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': forwardedFor },
    body,
  })

test('a client that sends X-Forwarded-For itself gets no higher limit', async () => {
  await using service = await bootService({ env: behindProxy })
  const statuses: number[] = []
  for (const lie of ['1.1.1.1', '2.2.2.2', 'x', '::1', '']) {
    statuses.push((await signup(service, `${lie}, 192.0.2.7`)).status)
  }
  expect(statuses).toEqual([202, 202, 202, 429, 429])
})

test('a bulk request that is no list of signups counts as one', async () => {
  await using service = await bootService({ env: { ...behindProxy, BULK_MAX: '1' } })
  const post = (body: string) =>
    fetch(`${service.url}/api/signup/bulk`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.7' },
      body,
    })
  const statuses: number[] = []
  for (const body of ['{}', '{"signups":{}}', '{"signups":[1,2]}', '{}']) {
    statuses.push((await post(body)).status)
  }
  expect(statuses).toEqual([422, 422, 413, 429])
})

test('each signup of a bulk request counts', async () => {
  await using service = await bootService({ env: { ...behindProxy, RATE_LIMIT_PER_MINUTE: '9' } })
  const good = { email: 'ada@example.com' }
  const wrong = { email: 'x' }
  const send = async (key: string, signups: readonly unknown[]) => {
    const headers = { 'x-forwarded-for': '192.0.2.7', 'idempotency-key': key }
    const answer = await postBulk(service.url, { signups }, headers)
    return [answer.status, answer.headers.get('ratelimit')?.split(';')[1]]
  }
  expect(await send('all are good', [good, good])).toEqual([202, 'r=7'])
  expect(await send('some are wrong', [good, wrong])).toEqual([207, 'r=5'])
  expect(await send('all are wrong', [wrong, wrong])).toEqual([422, 'r=3'])
  expect(await send('all are good', [good, good, good])).toEqual([422, 'r=0'])
  expect(await send('one too many', [good])).toEqual([429, 'r=0'])
})

test('a client over its limit is refused before its body is read, unless its idempotency key is known', async () => {
  await using service = await bootService({ env: { ...behindProxy, RATE_LIMIT_PER_MINUTE: '1' } })
  const body = '{"email":"ada@example.com"}'
  const head = (path: string, key: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\nIdempotency-Key: ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  const [first] = await sendRaw(
    service.url,
    head('/api/signup', 'known').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n') + body,
  )
  expect(first?.status).toBe(202)
  await using connection = openRaw(service.url)
  connection.write(head('/api/signup', 'known'))
  for (const path of ['/api/signup', '/api/signup/bulk']) {
    await using other = openRaw(service.url)
    other.write(head(path, 'fresh'))
    await expect.poll(() => other.received()).toMatch(/^HTTP\/1\.1 429 .*retry-after: \d+/is)
  }
  // Requests that came after it are refused by now.
  expect(connection.received()).toBe('')
  connection.write(body)
  await expect.poll(() => connection.received()).toMatch(/^HTTP\/1\.1 202 .*replayed: true/is)
})

test('repeated requests have a limit of their own, ten times as high', async () => {
  await using service = await bootService({ env: { ...behindProxy, RATE_LIMIT_PER_MINUTE: '2' } })
  const headers = { 'x-forwarded-for': '192.0.2.7', 'idempotency-key': 'one' }
  const send = () =>
    postBulk(service.url, { signups: [{ email: 'a@b.co' }, { email: 'c@b.co' }] }, headers)
  expect((await send()).status).toBe(202)
  for (let time = 1; time <= 10; time++) {
    const again = await send()
    expect(again.status).toBe(202)
    expect(again.headers.get('ratelimit-policy')).toBe('"replays";q=20;w=60')
    expect(again.headers.get('ratelimit')).toMatch(new RegExp(`^"replays";r=${20 - 2 * time};`))
  }
  const refused = await send()
  expect(refused.headers.get('ratelimit')).toMatch(/^"replays";r=0;/)
  const detail = expectProblem(refused, await refused.text(), 429)
  expect(detail).toMatch(/at most 20 repeated requests a minute/)
  const elsewhere = { ...headers, 'x-forwarded-for': '192.0.2.8' }
  const signups = [{ email: 'a@b.co' }, { email: 'c@b.co' }]
  expect((await postBulk(service.url, { signups }, elsewhere)).status).toBe(202)
})

test('a client over its limit cannot send other content under a known key without end', async () => {
  await using service = await bootService({ env: { ...behindProxy, RATE_LIMIT_PER_MINUTE: '1' } })
  const headers = { 'x-forwarded-for': '192.0.2.7', 'idempotency-key': 'one' }
  const send = (email: string) => postSignup(service.url, { email }, headers)
  expect((await send('ada@example.com')).status).toBe(202)
  const policies: (string | null)[] = []
  for (let time = 0; time < 11; time++) {
    const refused = await send('other@example.com')
    expect(refused.status).toBe(429)
    policies.push(refused.headers.get('ratelimit-policy'))
  }
  // Ten bodies were read and found to have other content.
  expect(policies.filter((policy) => policy?.includes('signups'))).toHaveLength(10)
  expect(policies.at(-1)).toBe('"replays";q=10;w=60')
})

test('requests with a valid API key do not count, and those with a wrong one do', async () => {
  await using service = await bootService({
    env: { ...behindProxy, API_KEYS: 'a-long-key-of-ours' },
  })
  const answers = async (key: string) => {
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '192.0.2.7' }
    const body = new URLSearchParams({ email: 'ada@example.com' })
    const send = () => fetch(`${service.url}/api/signup`, { method: 'POST', headers, body })
    const all = await Promise.all(Array.from({ length: 5 }, send))
    return all.map(({ status }) => status).sort()
  }
  expect(await answers('a-long-key-of-ours')).toEqual([202, 202, 202, 202, 202])
  expect(await answers('a-long-key-of-others')).toEqual([202, 202, 202, 429, 429])
})

test('a bulk request without a valid API key counts as one signup, so keys cannot be tried without end', async () => {
  await using service = await bootService({
    env: { ...behindProxy, API_KEYS: 'a-long-key-of-ours' },
  })
  const bulk = async (key: string) => {
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '192.0.2.7' }
    const answer = await postBulk(service.url, { signups: [{ email: 'ada@example.com' }] }, headers)
    return answer.status
  }
  const statuses: number[] = []
  for (const key of ['', 'one', 'two', 'three', 'a-long-key-of-ours']) {
    statuses.push(await bulk(key))
  }
  expect(statuses).toEqual([401, 401, 401, 429, 202])
})

test('without TRUST_PROXY private addresses are not limited, and a line at the start says why', async () => {
  await using service = await startService({ env: { RATE_LIMIT_PER_MINUTE: '1' } })
  for (let count = 0; count < 3; count++) {
    const answer = await postSignup(service.url, { email: 'ada@example.com' })
    expect(answer.status).toBe(202)
    expect(answer.headers.has('ratelimit')).toBe(false)
  }
  await expect.poll(() => service.output().match(/"level":30.*set TRUST_PROXY/g)).toHaveLength(1)
  expect(service.output()).not.toContain('"level":40')
  expect(service.output()).not.toContain('127.0.0.1"')
})
