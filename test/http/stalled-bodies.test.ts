import { expect, test } from 'vitest'
import { openRaw, parseAnswers, sendRaw } from '../../harness/raw-http.ts'
import { bootService } from '../../harness/boot-service.ts'

/** The share of one client holds eight bodies of this size. */
const bytes = 1_000_000
const head = (client: string) =>
  'POST /api/signup HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n' +
  `X-Forwarded-For: ${client}\r\nContent-Length: ${bytes}\r\n\r\n`
const body = '{"email":"ada@example.com"}'.padEnd(bytes)

test('a client that stalls many large bodies is refused with what to do, and others are not', async () => {
  await using service = await bootService({ env: { TRUST_PROXY: '1' } })
  await using stack = new AsyncDisposableStack()
  const stalled = Array.from({ length: 12 }, () => stack.use(openRaw(service.url)))
  for (const one of stalled) one.write(head('203.0.113.1') + body.slice(0, -1))
  const refused = () => stalled.flatMap((one) => parseAnswers(one.received()))
  await expect.poll(() => refused().length).toBe(4)
  expect(new Set(refused().map(({ status }) => status))).toEqual(new Set([503]))
  const [{ headers, body: problem } = expect.fail()] = refused()
  expect(headers.get('retry-after')).toBe('2')
  expect(problem).toContain('Send it again a little later.')

  const [other] = await sendRaw(service.url, head('203.0.113.2') + body)
  expect(other?.status).toBe(202)
  for (const one of stalled) one.write(body.slice(-1))
  await Promise.all(stalled.map((one) => one.closed))
  const statuses = stalled.flatMap((one) => parseAnswers(one.received())).map((it) => it.status)
  expect(statuses.filter((status) => status === 202)).toHaveLength(8)
})
