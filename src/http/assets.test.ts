import { expect, test } from 'vitest'
import type { StaticFile } from '../platform/static-file.ts'
import { assetAnswer, documentAnswer } from './assets.ts'
import { responseOf } from './fetch.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

const file: StaticFile = {
  path: 'embed.js',
  contentType: 'text/javascript; charset=utf-8',
  hash: 'abc',
  bodies: { identity: bytes('plain'), gzip: bytes('gzipped'), br: bytes('br') },
}

const askPlain = (headers: Record<string, string>) => assetAnswer(file, new Headers(headers))
const ask = (headers: Record<string, string>) => responseOf(askPlain(headers), 'GET')

test.each([
  [null, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['deflate', 'identity'],
])('a browser that accepts %j gets it as %s', (accepted, coding) => {
  const { headers } = ask(accepted === null ? {} : { 'accept-encoding': accepted })
  expect(headers.get('content-encoding') ?? 'identity').toBe(coding)
})

test('each coding has its own tag, length and label', async () => {
  const compressed = ask({ 'accept-encoding': 'br' })
  expect(Object.fromEntries(compressed.headers)).toMatchObject({
    etag: '"abc-br"',
    'content-encoding': 'br',
    'content-length': '2',
    'content-type': 'text/javascript; charset=utf-8',
  })
  expect(askPlain({}).vary).toBe('Accept-Encoding')
  const plain = ask({})
  expect(await plain.text()).toBe('plain')
  expect(plain.headers.get('etag')).toBe('"abc-identity"')
  expect(plain.headers.has('content-encoding')).toBe(false)
})

test.each(['"abc-br"', 'W/"abc-br"', '"old", "abc-br"', '*'])(
  'a browser that has %s does not get it again',
  (tag) => {
    const answer = ask({ 'accept-encoding': 'br', 'if-none-match': tag })
    expect(answer.status).toBe(304)
    expect(answer.body).toBeNull()
    expect(answer.headers.get('etag')).toBe('"abc-br"')
  },
)

test('a browser that has another version or another coding gets it', () => {
  expect(ask({ 'if-none-match': '"abc-br", "abd-identity"' }).status).toBe(200)
})

test('pages of every origin may load the file', () => {
  const { isPublic, security } = askPlain({})
  expect(isPublic).toBe(true)
  expect(security.join(': ')).toContain('cross-origin-resource-policy: cross-origin')
})

test('an uncompressed document is sent as it is, and browsers check it before each use', async () => {
  const document = { ...file, bodies: { identity: bytes('plain') } }
  const answer = documentAnswer(document, new Headers({ 'accept-encoding': 'br' }))
  expect(await responseOf(answer, 'GET').text()).toBe('plain')
  expect(answer.security.join(': ')).toContain('cache-control: no-cache')
  expect(answer.isPublic).toBe(false)
})
