import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

let service: BootedService

beforeAll(async () => {
  service = await bootService({ env: { ALLOWED_ORIGINS: 'https://page.example' } })
})

afterAll(() => service.stop())

test.each([
  ['/embed.js', 'text/javascript; charset=utf-8'],
  ['/embed/later.js', 'text/javascript; charset=utf-8'],
  ['/embed/de.json', 'application/json'],
  ['/api/config.schema.json', 'application/json'],
])(
  'pages of any origin get %s compressed, and 304 when they have it already',
  async (path, type) => {
    const url = service.url + path
    const first = await fetch(url, { headers: { 'accept-encoding': 'br' } })
    expect(first.status).toBe(200)
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'content-type': type,
      'content-encoding': 'br',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringMatching(/^public, max-age=\d+/),
    })
    const etag = first.headers.get('etag') ?? ''
    const again = await fetch(url, { headers: { 'accept-encoding': 'br', 'if-none-match': etag } })
    expect(again.status).toBe(304)
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
    expect(await plain.text()).toBe(await first.text())
  },
)

test('HEAD of a script has its headers and no body, and other methods are refused', async () => {
  const head = await fetch(`${service.url}/embed.js`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1000)
  const post = await fetch(`${service.url}/embed.js`, { method: 'POST' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})
