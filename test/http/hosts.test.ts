import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendRaw } from '../../harness/raw-http.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

let service: BootedService
beforeAll(async () => {
  service = await bootService({
    env: {
      ALLOWED_ORIGINS: 'https://www.example.com',
      ALLOWED_HOSTS: 'signup.example.com, localhost:3000',
      TRUST_PROXY: '1',
    },
  })
})
afterAll(() => service.stop())

/** Posts a form with these headers. Returns the status and the redirect of the answer. */
async function post(headers: Record<string, string>, redirect = '') {
  const body = new URLSearchParams({ email: 'ada@example.com', redirect }).toString()
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const [answer] = await sendRaw(
    service.url,
    `POST /api/signup HTTP/1.1\r\n${lines.join('')}accept: text/html\r\nconnection: close\r\n` +
      `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  return { status: answer?.status, location: answer?.headers.get('location') }
}

test.each([
  ['signup.example.com', 'https://signup.example.com', 303],
  ['signup.example.com:443', 'https://signup.example.com', 303],
  ['localhost:3000', 'http://localhost:3000', 303],
  ['elsewhere.example', 'https://www.example.com', 303],
  ['rebound.example', 'http://rebound.example', 403],
  ['signup.example.com:8443', 'https://signup.example.com:8443', 403],
  ['signup.example.com', 'http://rebound.example', 403],
])('under the host name %s a page of %s is answered %d', async (host, origin, status) => {
  expect((await post({ host, origin })).status).toBe(status)
})

test('a signup is not redirected to a host that is not listed', async () => {
  const location = async (host: string) => (await post({ host }, `http://${host}/welcome`)).location
  expect(await location('signup.example.com')).toBe('/welcome')
  expect(await location('rebound.example')).toMatch(/thanks/)
})
