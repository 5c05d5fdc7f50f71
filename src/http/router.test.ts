import { expect, test } from 'vitest'
import { noContent } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { type Handler, Router } from './router.ts'

const handler = (): Handler => () => noContent([])
const [get, post, other] = [handler(), handler(), handler()]

function find(method: string, path: string) {
  const router = new Router()
  router.add('/signup', { GET: get, POST: post, isPublic: true })
  router.add('/signup/form', { GET: get })
  router.add('/signup/:id', { GET: other })
  router.add('/assets/:folder/:name', { GET: get })
  router.add('/bulk', { POST: post, needsApiKey: true })
  return router.find({ method, url: `http://signup.example.com${path}` })
}

test.each<[string, string, Handler, Record<string, string>]>([
  ['GET', '/signup', get, {}],
  ['POST', '/signup', post, {}],
  ['GET', '/signup/', get, {}],
  ['GET', '/signup?id=7', get, {}],
  ['GET', '/signup/form', get, {}],
  ['GET', '/signup/7', other, { id: '7' }],
  ['GET', '/signup/a.b', other, { id: 'a.b' }],
  ['GET', '/assets/js/a.js', get, { folder: 'js', name: 'a.js' }],
])('%s %s finds its handler and the named parts of its path', (method, path, handle, params) => {
  const found = find(method, path)
  expect(found.handle).toBe(handle)
  expect(found.params).toEqual(params)
})

test('only a GET of a public path is public', () => {
  expect(find('GET', '/signup').isPublic).toBe(true)
  for (const method of ['HEAD', 'POST', 'OPTIONS', 'PUT']) {
    expect(find(method, '/signup').isPublic, method).toBe(false)
  }
  expect(find('GET', '/signup/form').isPublic).toBe(false)
})

test('only a POST brings signups, and may need an API key', () => {
  expect(find('POST', '/signup')).toMatchObject({ isSignup: true, needsApiKey: false })
  expect(find('POST', '/bulk')).toMatchObject({ isSignup: true, needsApiKey: true })
  for (const method of ['GET', 'OPTIONS', 'PUT']) {
    expect(find(method, '/bulk'), method).toMatchObject({ isSignup: false, needsApiKey: false })
  }
})

/** A request as a handler of the router needs it. */
function exchangeOf(headers: Record<string, string> = {}): Exchange {
  return { request: new Request('http://signup.example.com', { headers }) } as unknown as Exchange
}

test.each([
  ['/signup', 'GET, HEAD, POST, OPTIONS'],
  ['/signup/7', 'GET, HEAD, OPTIONS'],
  ['/bulk', 'POST, OPTIONS'],
])('%s tells that it takes %s', async (path, allow) => {
  const { handle } = find('OPTIONS', path)
  expect(await handle(exchangeOf())).toMatchObject({ status: 204, headers: ['allow', allow] })
  const preflight = await handle(exchangeOf({ 'access-control-request-method': 'POST' }))
  expect(preflight.headers).toEqual(
    expect.arrayContaining(['allow', allow, 'access-control-allow-methods']),
  )
  const refused = expect.objectContaining({ kind: 'method', headers: ['allow', allow] })
  expect(() => find('DELETE', path).handle(exchangeOf())).toThrow(refused)
})

test.each([
  ...[
    '/nothing',
    '/signup/7/more',
    '/Signup',
    '//signup',
    '/%73ignup',
    '/./signup',
    '/x/../signup',
  ],
  ...['/signup/..', '/signup/.', '/signup/%2e%2E', '/assets/../a.js', '/signup/a%2Fb'],
])('there is no path %s', (path) => {
  const { handle, route } = find('GET', path)
  expect(route).toBeUndefined()
  expect(() => handle(exchangeOf())).toThrow(expect.objectContaining({ kind: 'noSuchPath' }))
})

test.each([
  ['/signup', '/signup'],
  ['/signup/7', '/signup/:id'],
])('%s is told as the route %s', (path, route) => {
  expect(find('GET', path).route).toBe(route)
  expect(find('PUT', path).route).toBe(route)
})
