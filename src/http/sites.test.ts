import { ApiKeys } from './api-keys.ts'
import { describe, expect, test } from 'vitest'
import { noContent } from './answer.ts'
import { createEdge } from './edge.ts'
import { type Exchange } from './exchange.ts'
import { webResponse } from '../../harness/web-response.ts'
import { problem } from './problem.ts'
import { Router } from './router.ts'
import { type EdgeSite, Sites, unknownSite } from './sites.ts'

const site = (name: string, more: Partial<EdgeSite> = {}): EdgeSite => ({
  name,
  origins: [`https://${name}.example`],
  signupsPerMinute: 0,
  settingNames: { ALLOWED_ORIGINS: `sites.${name}.origins` },
  ...more,
})
const launch = site('launch', { signupsPerMinute: 2 })
const standard = site('default')
const beta = site('beta', { signupsPerMinute: 5 })
const sites = new Sites([standard, launch, beta], true, standard)
const withoutDefault = new Sites([launch], true, undefined)
const url = (query: string) => `http://signup.example/api/signup${query}`

test.each([
  ['', 'default', undefined],
  ['?site=', 'default', undefined],
  ['?site=launch', 'launch', 'launch'],
  ['?page=form&site=beta', 'beta', 'beta'],
  ['?site=beta&site=beta', 'beta', 'beta'],
  ['?site=beta&site=launch', undefined, 'beta&launch'],
  ['?site=Launch', undefined, 'Launch'],
  ['?site=__proto__', undefined, '__proto__'],
])('the query "%s" names the site %s', (query, expected, name) => {
  const addressed = sites.inUrl(url(query))
  expect([addressed.site?.name, addressed.name]).toEqual([expected, name])
})

test('without a default, a request has to name its site', () => {
  expect(withoutDefault.inUrl(url(''))).toEqual({ site: undefined, name: undefined })
})

test('where no file names sites, an address may name the default one only', () => {
  const only = new Sites([standard], false, standard)
  expect(only.inUrl(url('?site=default')).site?.name).toBe('default')
  expect(only.inUrl(url('?site=launch'))).toEqual({ site: undefined, name: 'launch' })
})

test.each([
  [undefined, 'The site is missing: add ?site= and its name to the address.'],
  ['nobody', 'There is no site "nobody".'],
  ['x'.repeat(41), `There is no site "${'x'.repeat(40)}".`],
])('of the site %s is told', (name, message) => {
  expect(unknownSite(name)).toEqual({ field: 'site', message })
})

/** Asks an edge with these sites. `handle` is the handler of its one path. */
function asking(handle: (exchange: Exchange) => void, all = sites) {
  const router = new Router()
  const answer = (exchange: Exchange) => {
    handle(exchange)
    return noContent([])
  }
  router.add('/api/signup', { GET: answer, POST: answer })
  const edge = createEdge({
    sites: all,
    allowedHosts: undefined,
    trustedProxies: 0,
    clock: { elapsed: () => 0 },
    warn: () => {},
    eventsOf: () => ({
      requestRefused: () => {},
      signupsRefused: () => {},
      originRefused: () => {},
      requestFailed: () => {},
    }),
    router,
    apiKeys: new ApiKeys([]),
    showRefusal: (refusal, { requestId }) => problem(refusal, requestId),
  })
  return async (query: string, origin?: string, method = 'POST') => {
    const headers = {
      host: 'signup.example',
      ...(origin !== undefined && { origin }),
      ...(method === 'OPTIONS' && { 'access-control-request-method': 'POST' }),
    }
    const request = new Request(url(query), { method, headers })
    const answered = await edge.fetch(request, { remoteAddress: '203.0.113.7' })
    const { status, headers: told } = webResponse(answered)
    return [status, told.get('access-control-allow-origin')]
  }
}

describe('the site of the address decides on origins', () => {
  const ask = asking(({ site: found }) => found)

  test.each([
    ['?site=launch', 'https://launch.example', 204],
    ['?site=launch', 'https://beta.example', 403],
    ['?site=launch', 'https://default.example', 403],
    ['?site=launch', 'http://signup.example', 204],
  ])('of %s for %s: %d', async (query, origin, status) => {
    const told = status === 204 ? origin : null
    expect(await ask(query, origin)).toEqual([status, told])
    // Our own script reads why it is refused.
    expect(await ask(query, origin, 'GET')).toEqual([status, told ?? '*'])
    expect(await ask(query, origin, 'OPTIONS')).toEqual([status, told])
  })

  test('a preflight and a GET without a site are those of the default', async () => {
    expect(await ask('', 'https://launch.example', 'OPTIONS')).toEqual([403, null])
    expect(await ask('', 'https://launch.example', 'GET')).toEqual([403, '*'])
    const own = 'https://default.example'
    expect(await ask('', own, 'OPTIONS')).toEqual([204, own])
  })

  test('every page may read that a site is unknown', async () => {
    expect(await ask('?site=nobody', 'https://a.example')).toEqual([422, '*'])
    const unnamed = asking(({ site: found }) => found, withoutDefault)
    expect(await unnamed('', 'https://a.example')).toEqual([422, '*'])
  })
})

describe('a body may name the site', () => {
  const settled: string[] = []
  const naming = (name: string | undefined, all = sites) =>
    asking((exchange) => {
      exchange.useSiteOfBody(name)
      settled.push(exchange.site.name)
    }, all)

  test.each<[string, string | undefined, string]>([
    ['', 'launch', 'launch'],
    ['?site=launch', 'launch', 'launch'],
    ['?site=launch', undefined, 'launch'],
    ['', undefined, 'default'],
  ])('the address "%s" and the body %s: %s', async (query, name, expected) => {
    expect(await naming(name)(query)).toEqual([204, null])
    expect(settled.at(-1)).toBe(expected)
  })

  test.each<[string, string | undefined, Sites]>([
    ['?site=launch', 'beta', sites],
    ['?site=launch', 'default', sites],
    ['?site=nobody', undefined, sites],
    ['?site=nobody', 'launch', sites],
    ['?site=launch&site=beta', 'launch', sites],
    ['', 'nobody', sites],
    ['', undefined, withoutDefault],
  ])('the address "%s" and the body %s are refused', async (query, name, all) => {
    expect((await naming(name, all)(query))[0]).toBe(422)
  })

  test('its origins count then', async () => {
    const own = 'https://launch.example'
    expect(await naming('launch')('', own)).toEqual([204, own])
    expect(await naming('launch', withoutDefault)('', own)).toEqual([204, own])
    expect(await naming('launch')('', 'https://default.example')).toEqual([403, null])
  })
})

test('each site counts its own signups, and unknown ones are counted as well', async () => {
  const ask = asking((exchange) => exchange.take(1))
  const statuses = async (query: string, times: number) => {
    const all: unknown[] = []
    for (let time = 0; time < times; time++) all.push((await ask(query))[0])
    return all
  }
  expect(await statuses('?site=launch', 3)).toEqual([204, 204, 429])
  expect(await statuses('?site=beta', 6)).toEqual([204, 204, 204, 204, 204, 429])
  const alone = asking((exchange) => exchange.take(1), withoutDefault)
  expect((await alone('?site=nobody'))[0]).toBe(204)
  expect((await alone('?site=nobody'))[0]).toBe(204)
  expect((await alone('?site=other'))[0]).toBe(429)
})
