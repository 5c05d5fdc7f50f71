import { expect, test } from 'vitest'
import { noContent } from './answer.ts'
import { type Handler, Router } from './router.ts'

const handler = (): Handler => () => noContent([])
const [get, post, other] = [handler(), handler(), handler()]

function find(method: string, path: string) {
  const router = new Router()
  router.add('/signup', { GET: get, POST: post, isPublic: true })
  router.add('/signup/form', { GET: get })
  router.add('/signup/:id', { GET: other })
  router.add('/assets/:folder/:name', { GET: get })
  return router.find({ method, url: `http://signup.example.com${path}` })
}

test.each<[string, string, Handler, Record<string, string>]>([
  ['GET', '/signup', get, {}],
  ['HEAD', '/signup', get, {}],
  ['POST', '/signup', post, {}],
  ['GET', '/signup/', get, {}],
  ['GET', '/signup?id=7', get, {}],
  ['GET', '/%73ignup', get, {}],
  ['GET', '/signup/form', get, {}],
  ['GET', '/signup/7', other, { id: '7' }],
  ['GET', '/signup/7/?x=1', other, { id: '7' }],
  ['GET', '/signup/a%2Fb', other, { id: 'a%2Fb' }],
  ['GET', '/signup/%C3%AB', other, { id: 'ë' }],
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
