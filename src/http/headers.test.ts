import { expect, test } from 'vitest'
import { frameAncestors, pageSecurity, securityHeaders, securityWith } from './headers.ts'

const plain = { allowedOrigins: '*', widget: { origins: [] }, pages: {} } as const

/** As an object, of names and values in turn; a name that stands twice is an error. */
function named(list: readonly string[]): Record<string, string | undefined> {
  const names = list.filter((_, at) => at % 2 === 0)
  expect(new Set(names).size).toBe(names.length)
  return Object.fromEntries(names.map((name, at) => [name, list[2 * at + 1]]))
}

test('by default an answer may not be rendered, framed, sniffed or cached', () => {
  expect(named(securityHeaders)).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  })
})

test('a value that a route sets stays', () => {
  const own = {
    'cache-control': 'public, max-age=300',
    'cross-origin-resource-policy': 'cross-origin',
  }
  expect(named(securityWith(own))).toMatchObject({ ...own, 'x-frame-options': 'DENY' })
})

test('a page that may be framed names the origins that may do so, and has no X-Frame-Options', () => {
  const headers = named(
    pageSecurity({ ...plain, allowedOrigins: ['https://a.example'], framed: true }),
  )
  const policy = headers['content-security-policy']
  expect(policy).toContain("frame-ancestors 'self' https://a.example")
  expect(policy).toContain("form-action 'self' https://a.example")
  expect(policy).not.toContain('unsafe')
  expect(headers).not.toHaveProperty('x-frame-options')
})

test('a page that may not be framed says so in the CSP and in X-Frame-Options', () => {
  const headers = named(pageSecurity({ ...plain, framed: false }))
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers['x-frame-options']).toBe('DENY')
})

test('the origins of the challenge may run its script and show its frame', () => {
  const widget = { origins: ['https://challenges.example'] }
  const headers = named(pageSecurity({ ...plain, framed: true, widget }))
  const policy = headers['content-security-policy']
  expect(policy).toContain("script-src 'self' https://challenges.example")
  expect(policy).toContain('frame-src https://challenges.example')
  expect(policy).toContain("style-src 'self' https://challenges.example")
  expect(policy).toContain("connect-src 'self' https://challenges.example")
  expect(frameAncestors('*')).toEqual(['*'])
})

test('a page may load the logo from its origin, and no other picture of another origin', () => {
  const pages = { logoUrl: 'https://cdn.example/logo.svg' }
  const { 'content-security-policy': policy } = named(
    pageSecurity({ ...plain, framed: false, pages }),
  )
  expect(policy).toContain("img-src 'self' data: https://cdn.example;")
  const without = named(pageSecurity({ ...plain, framed: false }))
  expect(without['content-security-policy']).toContain("img-src 'self' data:;")
})
