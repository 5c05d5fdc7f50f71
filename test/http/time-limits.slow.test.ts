// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { openRaw, parseAnswers, sendRaw } from '../../harness/raw-http.ts'

let service: BootedService
beforeAll(async () => {
  service = await bootService()
})
afterAll(() => service.stop())

const head = 'POST /api/signup HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'

const body = '{"email":"ada@example.com"}'
const whole = `${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`

// The service allows 10 s for the head and 30 s for the body.
test('a head that does not arrive in time is answered 408, while a body has more time', async () => {
  await using slow = openRaw(service.url)
  slow.write(`${whole}${body.slice(0, 9)}`)
  const [answer] = await sendRaw(service.url, head)
  expect(answer?.status).toBe(408)
  slow.write(body.slice(9))
  expect(parseAnswers(await slow.closed)[0]?.status).toBe(202)
})

test('a body that does not arrive in time is answered 408', async () => {
  const [none, half] = await Promise.all([
    sendRaw(service.url, whole),
    sendRaw(service.url, `${whole}${body.slice(0, 9)}`),
  ])
  expect([none[0]?.status, half[0]?.status]).toEqual([408, 408])
})
