import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../signup/limits.ts'
import { redirectLocation, redirectOrigin } from './form-post.ts'

const named = ['https://site.example', 'http://localhost:8080']
const ownOrigin = 'https://ours.example'
const rules = { ownOrigin, allowedOrigins: named }

test.each([
  ['/welcome', '/welcome'],
  ['welcome?a=1&b=2#top', '/welcome?a=1&b=2#top'],
  ['  /welcome  ', '/welcome'],
  ['https://ours.example/welcome', '/welcome'],
  ['//ours.example/x', '/x'],
  ['/a/../b', '/b'],
  ['/grüße?name=Zoë', '/gr%C3%BC%C3%9Fe?name=Zo%C3%AB'],
  ['https://site.example', 'https://site.example/'],
  ['https://site。example/', 'https://site.example/'],
  ['http://localhost:8080/é', 'http://localhost:8080/%C3%A9'],
])('%s is followed to %s', (redirect, location) => {
  expect(redirectLocation(redirect, rules)).toBe(location)
})

test.each([
  'https://evil.example/',
  '//evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/welcome\r\nset-cookie: a=b',
  'javascript:alert(1)',
  'blob:https://ours.example/id',
  'https://ours.example@evil.example/',
  'https://user@ours.example/',
  'http://ours.example/',
  'http://site.example/',
  'https://sub.site.example/',
  'https://site.example.evil.example/',
  '/x/..//evil.example',
  'https://ours.example//evil.example',
  'https://',
  `/${'x'.repeat(limits.redirectCharactersMax)}`,
])('%s is not followed', (redirect) => {
  expect(redirectLocation(redirect, rules)).toBeUndefined()
})

test('the longest redirect is still followed', () => {
  const redirect = `/${'x'.repeat(limits.redirectCharactersMax - 1)}`
  expect(redirectLocation(redirect, rules)).toBe(redirect)
})

describe('for any text', () => {
  const part = fc.constantFrom(
    ...['/', '//', '\\', '@', ':', '.', '..', '?', '#', '\t', '\n', '\r', ' ', '\0', '%2f', '%5c'],
    ...['http:', 'https:', 'javascript:', 'data:', 'evil.example', 'ours.example', 'site.example'],
    ...['。', '．', '／', '\u202e', 'é', '😀', '[::1]', '0x7f.1'],
  )
  const redirects = fc.oneof(
    fc.array(part, { maxLength: 9 }).map((parts) => parts.join('')),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string({ unit: 'binary' }),
  )

  test.each([ownOrigin, 'http://127.0.0.1:3000', 'http://[::1]:3000'])(
    'a Location of %s leads to our own origin or to a named one, and is plain ASCII',
    (own) => {
      let followed = 0
      fc.assert(
        fc.property(redirects, (redirect) => {
          const location = redirectLocation(redirect, { ...rules, ownOrigin: own })
          if (location === undefined) return
          followed++
          expect(location).toMatch(/^[!-~]+$/)
          expect([own, ...named]).toContain(new URL(location, `${own}/api/signup`).origin)
        }),
        { numRuns: 3_000 },
      )
      expect(followed).toBeGreaterThan(100)
    },
  )

  test('a wildcard names no origin', () => {
    fc.assert(
      fc.property(redirects, (redirect) => {
        const location = redirectLocation(redirect, { ...rules, allowedOrigins: '*' })
        expect(location ?? '/').toMatch(/^\/(?!\/)/)
      }),
    )
  })

  test('the log gets no path, query or user', () => {
    fc.assert(
      fc.property(redirects, (redirect) => {
        expect(redirectOrigin(redirect, ownOrigin)).toMatch(
          /^(not a URL|[^/?#@\s]+(\/\/[^/?#@\s]*)?)$/,
        )
      }),
      { numRuns: 2_000 },
    )
  })
})

test.each([
  ['https://ada:secret@evil.example:8443/ada@example.com?mail=ada#x', 'https://evil.example:8443'],
  ['javascript:alert("ada@example.com")', 'javascript:'],
  ['https://[', 'not a URL'],
  [`https://${'a.'.repeat(400)}example/`, `https://${'a.'.repeat(46)}`],
])('for %s the log gets %s', (redirect, logged) => {
  expect(redirectOrigin(redirect, ownOrigin)).toBe(logged)
})
