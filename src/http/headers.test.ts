import { expect, test } from 'vitest'
import { frameAncestors, pageHeaders, secure } from './headers.ts'

const plain = { allowedOrigins: '*', widget: { origins: [] }, pages: {} } as const

test('an answer that brings nothing of its own may not be rendered, framed, sniffed or cached', () => {
  const headers = new Headers()
  secure(headers)
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  })
})

test('what a route sets stays', () => {
  const headers = new Headers({
    'cache-control': 'public, max-age=300',
    'cross-origin-resource-policy': 'cross-origin',
  })
  secure(headers)
  expect(headers.get('cache-control')).toBe('public, max-age=300')
  expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
})

test('a page that may be framed says by whom, and no X-Frame-Options contradicts it', () => {
  const headers = new Headers(
    pageHeaders({ ...plain, allowedOrigins: ['https://a.example'], framed: true }),
  )
  secure(headers)
  const policy = headers.get('content-security-policy')
  expect(policy).toContain("frame-ancestors 'self' https://a.example")
  expect(policy).toContain("form-action 'self' https://a.example")
  expect(policy).not.toContain('unsafe')
  expect(headers.has('x-frame-options')).toBe(false)
})

test('a page that may not be framed says so in both ways', () => {
  const headers = pageHeaders({ ...plain, framed: false })
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers['x-frame-options']).toBe('DENY')
})

test('the origins of the challenge may run its script and show its frame', () => {
  const widget = { origins: ['https://challenges.example'] }
  const headers = pageHeaders({ ...plain, framed: true, widget })
  const policy = headers['content-security-policy']
  expect(policy).toContain("script-src 'self' https://challenges.example")
  expect(policy).toContain('frame-src https://challenges.example')
  expect(policy).toContain("style-src 'self' https://challenges.example")
  expect(policy).toContain("connect-src 'self' https://challenges.example")
  expect(frameAncestors('*')).toEqual(['*'])
})

test('the logo is loaded from its origin, and no other picture from elsewhere', () => {
  const pages = { logoUrl: 'https://cdn.example/logo.svg' }
  const { 'content-security-policy': policy } = pageHeaders({ ...plain, framed: false, pages })
  expect(policy).toContain("img-src 'self' data: https://cdn.example;")
  const without = pageHeaders({ ...plain, framed: false })
  expect(without['content-security-policy']).toContain("img-src 'self' data:;")
})
