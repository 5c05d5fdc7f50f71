import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isOriginAllowed, isOwnOrigin, ownOrigin, requestHosts, webOrigin } from './origin.ts'

const listed = ['https://example.com', 'http://localhost:8080'] as const

// To make `fc.webUrl()` takes a second.
const someOrigin = fc
  .tuple(fc.constantFrom('http', 'https'), fc.webAuthority({ withPort: true }))
  .map(([scheme, authority]) => `${scheme}://${authority}`)

describe('an origin of the list is allowed', () => {
  test.each(listed)('%s', (origin) => {
    expect(isOriginAllowed(origin, listed, ['rollcall.example'])).toBe(true)
  })

  test.each([
    'null',
    '',
    'http://example.com',
    'https://example.com:8443',
    'https://example.com/',
    'https://example.com.evil.example',
    'https://example.com, https://evil.example',
    'https://user@rollcall.example',
    'rollcall.example',
  ])('another origin is not allowed: %s', (origin) => {
    expect(isOriginAllowed(origin, listed, ['rollcall.example'])).toBe(false)
  })

  test('no other text is allowed', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), someOrigin, fc.constantFrom(...listed)), (origin) => {
        const isListed = (listed as readonly string[]).includes(origin)
        expect(isOriginAllowed(origin, listed, [])).toBe(isListed)
      }),
    )
  })
})

test('the star allows every origin and null; a request without an origin is always allowed', () => {
  for (const origin of ['null', 'https://any.example', 'garbage']) {
    expect(isOriginAllowed(origin, '*', [])).toBe(true)
  }
  expect(isOriginAllowed(null, listed, [])).toBe(true)
})

test.each([
  ['https://rollcall.example', 'rollcall.example', true],
  ['http://rollcall.example', 'Rollcall.Example', true],
  ['https://rollcall.example', 'rollcall.example:443', true],
  ['http://127.0.0.1:3000', '127.0.0.1:3000', true],
  ['http://[::1]:3000', '[::1]:3000', true],
  ['https://rollcall.example:8443', 'rollcall.example', false],
  ['https://rollcall.example', 'rollcall.example:8443', false],
  ['https://evil.example', 'evil.example/rollcall.example', false],
  ['https://evil.example', 'user@evil.example', false],
  ['https://evil.example', 'evil.example#', false],
  ['https://evil.example', 'evil.example\\', false],
  ['https://evil.example', '', false],
  ['null', 'null', false],
])('a page of %s is our own on the host %s: %s', (origin, host, expected) => {
  expect(isOwnOrigin(origin, host)).toBe(expected)
})

test('the host that a proxy forwards counts only when a proxy is trusted', () => {
  const headers = new Headers({ host: 'inside:3000', 'x-forwarded-host': 'rollcall.example' })
  expect(requestHosts(headers, false)).toEqual(['inside:3000'])
  expect(requestHosts(headers, true)).toEqual(['inside:3000', 'rollcall.example'])
})

test('a header may list several hosts', () => {
  const headers = new Headers({ host: 'inside', 'x-forwarded-host': ' a.example:81,, b.example ' })
  expect(requestHosts(headers, true)).toEqual(['inside', 'a.example:81', 'b.example'])
  expect(requestHosts(new Headers(), true)).toEqual([])
})

const longest = `https://${'a'.repeat(262)}`

test.each(['https://a.example', 'http://a.example:8080', 'http://[::1]:3000', longest])(
  'a plain origin may be quoted: %s',
  (origin) => {
    expect(webOrigin(origin)).toBe(origin)
  },
)

test.each([
  'null',
  '',
  'a.example',
  'https://',
  'https://a.example/',
  'https://ada:secret@a.example',
  'https://a.example/?email=ada@example.com',
  'https://a.example:443',
  `${longest}a`,
])('any other text may not: %s', (origin) => {
  expect(webOrigin(origin)).toBeUndefined()
})

test.each([
  [{ host: 'a.example' }, false, 'http://a.example'],
  [{ host: 'a.example', origin: 'https://a.example' }, false, 'https://a.example'],
  [{ host: 'a.example', origin: 'https://evil.example' }, false, 'http://a.example'],
  [{ host: 'a.example', 'x-forwarded-proto': 'https' }, false, 'http://a.example'],
  [{ host: 'a.example', 'x-forwarded-proto': 'https' }, true, 'https://a.example'],
  [{ host: 'a.example', 'x-forwarded-proto': 'http, https' }, true, 'https://a.example'],
  [{ host: 'a.example', 'x-forwarded-proto': 'https, http' }, true, 'http://a.example'],
  [{ host: 'a.example', 'x-forwarded-proto': 'ftp' }, true, 'http://a.example'],
  [{ host: 'a.example, b.example' }, true, 'http://b.example'],
  [
    { host: 'in:3000', 'x-forwarded-host': 'a.example', 'x-forwarded-proto': 'https' },
    true,
    'https://a.example',
  ],
  [
    { host: 'in:3000', 'x-forwarded-host': 'a.example', origin: 'https://a.example' },
    true,
    'https://a.example',
  ],
  [{}, false, 'http://fallback.example'],
])('a request with %j (trusted proxy: %s) sees us under %s', (headers, isTrusted, expected) => {
  const request = { headers: new Headers(headers), url: 'http://fallback.example/api/signup' }
  const hosts = requestHosts(request.headers, isTrusted)
  expect(ownOrigin(request, hosts, isTrusted)).toBe(expected)
})
