import { expect, test } from 'vitest'
import type { Body } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { takeSiteOut } from './take.ts'

type Fields = readonly (readonly [string, string])[]
const form = (fields: Fields): Body => ({ kind: 'form', fields: [...fields] })
const json = (value: Record<string, unknown>): Body => ({ kind: 'json', value })

/** Takes the site out of a body. Returns the name that the body gave, and what is left of it. */
function siteOf(body: Body, hasSites = true): readonly [name: string | undefined, left: Body] {
  const named: (string | undefined)[] = []
  const exchange: Pick<Exchange, 'hasSites' | 'useSiteOfBody'> = {
    hasSites,
    useSiteOfBody: (name) => named.push(name),
  }
  const left = takeSiteOut(body, exchange as Exchange)
  return [named[0], left]
}

const email = ['email', 'ada@example.com'] as const

test.each<[Body, string | undefined, Body]>([
  [form([email, ['site', 'launch']]), 'launch', form([email])],
  [form([['site', 'launch'], email, ['site', 'launch']]), 'launch', form([email])],
  [form([['site', ''], email, ['site', 'launch']]), 'launch', form([email])],
  [form([['site', ''], email]), undefined, form([email])],
  [json({ site: 'launch', name: 'Ada' }), 'launch', json({ name: 'Ada' })],
  [json({ site: '', name: 'Ada' }), undefined, json({ name: 'Ada' })],
  [json({ site: null }), undefined, json({})],
])('the site is taken out of a body: %j', (body, name, left) => {
  expect(siteOf(body)).toEqual([name, left])
})

test.each<Body>([
  form([['site', 'launch'], ['site', 'beta'], email]),
  json({ site: 5 }),
  json({ site: ['launch'] }),
])('a site that is no name is refused: %j', (body) => {
  expect(() => siteOf(body)).toThrow(expect.objectContaining({ status: 422 }))
})

test('where no file names sites, the body stays as it is', () => {
  const body = form([email, ['site', 'of a visitor']])
  expect(siteOf(body, false)).toEqual([undefined, body])
})
