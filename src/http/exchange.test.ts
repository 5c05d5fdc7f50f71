import { describe, expect, test } from 'vitest'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { Exchange, type Surroundings } from './exchange.ts'
import { SiteLimits, type SiteLimitsOptions } from './rate-limit.ts'
import { refuse } from './refuse.ts'
import { type EdgeSite, Sites } from './sites.ts'
import { environmentNames } from '../signup/setting-names.ts'

class HandClock {
  ms = 0
  elapsed() {
    return this.ms
  }
}

const visitor = '203.0.113.7'

/** A service, with a function that makes requests which arrive there. */
function receive({
  signupsPerMinute = 0,
  ...given
}: Partial<Surroundings & SiteLimitsOptions & Pick<EdgeSite, 'signupsPerMinute'>> = {}) {
  const settingNames = environmentNames
  const site = { name: 'default', origins: '*', signupsPerMinute, settingNames } as const
  const warnings: string[][] = []
  const options = {
    allowedHosts: undefined,
    trustedProxies: 0,
    sites: new Sites([site], false),
    clock: new HandClock(),
    warn: (...warning: string[]) => warnings.push(warning),
    ...given,
  }
  const around = { ...options, limits: new SiteLimits(options) }
  let count = 0
  const arrive = (headers: Record<string, string> = {}, remoteAddress = visitor) => {
    const request: HttpRequest = new Request('http://127.0.0.1/', { headers })
    const arrival = { requestId: `request ${++count}`, request, params: { id: '7' } }
    return new Exchange({ ...arrival, connection: { remoteAddress } }, around)
  }
  return { arrive, warnings }
}

describe('signups are counted', () => {
  test('for all requests of one address, up to the limit of a minute', () => {
    const clock = new HandClock()
    const { arrive } = receive({ signupsPerMinute: 3, clock })
    const first = arrive()
    first.take(2)
    expect(first.allowance).toMatchObject({ policy: 'signups', limit: 3, remaining: 1 })
    const second = arrive()
    expect(second.isSpent).toBe(false)
    expect(() => second.take(2)).toThrow(
      expect.objectContaining({ kind: 'tooMany', headers: ['retry-after', '60'] }),
    )
    expect(second.allowance).toMatchObject({ isTaken: false, remaining: 1 })
    second.take(1)
    expect([arrive().isSpent, arrive({}, '203.0.113.8').isSpent]).toEqual([true, false])
    clock.ms = 60_000
    expect(arrive().isSpent).toBe(false)
  })

  test('for no request with an API key', () => {
    const { arrive } = receive({ signupsPerMinute: 1 })
    arrive().take(1)
    const withKey = arrive()
    withKey.client.apiKey = 'digest'
    withKey.take(1_000)
    withKey.takeReplays(1_000)
    expect(withKey).toMatchObject({ allowance: undefined, isSpent: false })
    expect(withKey.client.rateLimitKey).toBeUndefined()
    expect(arrive().client.rateLimitKey).toBe(visitor)
  })

  test('for no private address, as it may be a proxy', () => {
    const { arrive } = receive({ signupsPerMinute: 1 })
    const inside = arrive({}, '10.0.0.1')
    inside.take(1_000)
    expect(inside).toMatchObject({ allowance: undefined, isSpent: false })
    expect(inside.client.rateLimitKey).toBeUndefined()
  })

  test('not at all when the limit is 0', () => {
    const { arrive } = receive({ signupsPerMinute: 0 })
    const exchange = arrive()
    exchange.take(1_000)
    exchange.takeReplays(1_000)
    expect(exchange).toMatchObject({ allowance: undefined, isSpent: false })
    expect(exchange.client.rateLimitKey).toBe(visitor)
  })
})

describe('the site of a request', () => {
  const site = (name: string): EdgeSite => ({
    name,
    origins: [`https://${name}.example`],
    signupsPerMinute: 1,
    settingNames: { origins: `sites.${name}.origins` },
  })
  const sites = new Sites([site('default'), site('launch')], true)
  const at = (query: string, headers: Record<string, string> = {}) => {
    const options = { sites, clock: new HandClock(), warn: () => {} }
    const around = {
      ...options,
      allowedHosts: undefined,
      trustedProxies: 0,
      limits: new SiteLimits(options),
    }
    const request = new Request(`http://signup.example/${query}`, {
      method: 'POST',
      headers: { host: 'signup.example', ...headers },
    })
    const arrival = { requestId: 'an-id', request, params: {} }
    return new Exchange({ ...arrival, connection: { remoteAddress: visitor } }, around)
  }
  const wrong = (message: string): unknown =>
    expect.objectContaining({ kind: 'fields', errors: [{ field: 'site', message }] })

  test.each([
    ['', false],
    ['?site=launch', false],
    ['?site=nobody', true],
  ])('is unknown in the address "%s": %s', (query, isUnknown) => {
    expect(at(query).isSiteUnknown).toBe(isUnknown)
  })

  test('is asked for when it is unknown', () => {
    expect(at('?site=launch').site.name).toBe('launch')
    expect(() => at('?site=nobody').site).toThrow(wrong('There is no site "nobody".'))
  })

  test.each([
    ['?site=launch', 'default', 'The body names another site than the address does.'],
    ['', 'nobody', 'There is no site "nobody".'],
    ['?site=nobody', undefined, 'There is no site "nobody".'],
  ])('in the address "%s" and the body %s is wrong: %s', (query, name, message) => {
    expect(() => at(query).useSiteOfBody(name)).toThrow(wrong(message))
  })

  test('decides on the origin, and the refusal names its setting', () => {
    const origin = 'https://other.example'
    const refused = at('?site=launch', { origin })
    expect(refused.isOriginAllowed).toBe(false)
    expect(refused.refusedOrigin().message).toContain('sites.launch.origins')
    expect(at('?site=nobody', { origin }).refusedOrigin().message).toContain(
      'sites.default.origins',
    )
    expect(at('?site=nobody', { origin }).isOriginAllowed).toBe(true)
    expect(at('?site=launch', { origin: 'https://launch.example' }).isOriginAllowed).toBe(true)
    expect(at('?site=launch').isOriginAllowed).toBe(true)
  })
})

test.each([
  ['challenge', 0],
  ['unexpected', undefined],
] as const)('a signup that is refused, by %s, leaves %s', (kind, remaining) => {
  const exchange = receive({ signupsPerMinute: 1 }).arrive()
  exchange.signups = 1
  exchange.countRefused(refuse[kind]())
  expect(exchange.allowance?.remaining).toBe(remaining)
})

describe('replays are counted', () => {
  test('apart from signups, with a limit that is ten times as high', () => {
    const { arrive } = receive({ signupsPerMinute: 2 })
    arrive().takeReplays(19)
    expect(arrive().isSpent).toBe(false)
    const last = arrive()
    last.takeReplays(1)
    expect(last.allowance).toMatchObject({ policy: 'replays', limit: 20, remaining: 0 })
    expect(() => arrive().takeReplays(1)).toThrow(expect.objectContaining({ kind: 'tooMany' }))
    arrive().take(2)
  })

  test('once for each request, by the increase since the last call', () => {
    const { arrive } = receive({ signupsPerMinute: 1 })
    const exchange = arrive()
    exchange.takeReplays(0)
    expect(exchange.allowance).toBeUndefined()
    for (const total of [3, 3, 1, 5]) exchange.takeReplays(total)
    expect(exchange.allowance).toMatchObject({ remaining: 5 })
  })

  test('none of them when they exceed the limit', () => {
    const { arrive } = receive({ signupsPerMinute: 1 })
    const exchange = arrive()
    expect(() => exchange.takeReplays(11)).toThrow(expect.objectContaining({ kind: 'tooMany' }))
    exchange.takeReplays(10)
    expect(exchange.allowance).toMatchObject({ isTaken: true, remaining: 0 })
  })
})

describe('the warning that clients are counted wrongly', () => {
  test('names the first request that is counted so, and comes once', () => {
    const { arrive, warnings } = receive({ trustedProxies: 1, signupsPerMinute: 5 })
    arrive({ 'x-forwarded-for': visitor }).take(1)
    expect(warnings).toEqual([])
    arrive().take(1)
    arrive().takeReplays(1)
    expect(warnings).toEqual([[expect.stringContaining('TRUST_PROXY'), 'request 2']])
  })

  test('does not come when nothing is counted', () => {
    const { arrive, warnings } = receive({ trustedProxies: 1, signupsPerMinute: 0 })
    arrive().take(1)
    expect(warnings).toEqual([])
  })
})

describe('behind a trusted proxy', () => {
  const headers = {
    host: 'inside:3000',
    'x-forwarded-host': 'signup.example.com',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '198.51.100.1',
  }

  test('the client, its share, the hosts and our origin are those that the proxy tells', () => {
    expect(receive({ trustedProxies: 1 }).arrive(headers)).toMatchObject({
      client: {
        rateLimitKey: '198.51.100.1',
        visitorAddress: '198.51.100.1',
        share: { client: '198.51.100.1' },
      },
      hosts: ['inside:3000', 'signup.example.com'],
      ownOrigin: 'https://signup.example.com',
    })
  })

  test('without that trust, they are those of the connection', () => {
    expect(receive().arrive(headers)).toMatchObject({
      client: { rateLimitKey: visitor, visitorAddress: visitor, share: { client: visitor } },
      hosts: ['inside:3000'],
      ownOrigin: 'http://inside:3000',
    })
  })
})

test('a host that is not in the list of our own is none, and our origin is then of the list', () => {
  const { arrive } = receive({ allowedHosts: ['signup.example.com'] })
  expect(arrive({ host: 'Signup.Example.com' })).toMatchObject({
    hosts: ['Signup.Example.com'],
    ownOrigin: 'http://signup.example.com',
  })
  expect(arrive({ host: 'evil.example' })).toMatchObject({
    hosts: [],
    ownOrigin: 'http://signup.example.com',
  })
})

test('an exchange has the id, the request and the parameters that it arrived with', () => {
  const exchange = receive().arrive({ accept: '*/*' })
  expect(exchange).toMatchObject({ requestId: 'request 1', params: { id: '7' } })
  expect(exchange.request.headers.get('accept')).toBe('*/*')
})
