import { describe, expect, test } from 'vitest'
import type { HttpRequest } from '../platform/http-exchange.ts'
import { Exchange, type Surroundings } from './exchange.ts'
import { SiteLimits, type SiteLimitsOptions } from './rate-limit.ts'
import { refuse } from './refuse.ts'
import { type EdgeSite, Sites } from './sites.ts'
import { environmentNames } from '../platform/setting-names.ts'

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
    sites: new Sites([site], false, site),
    clock: new HandClock(),
    warn: (...warning: string[]) => warnings.push(warning),
    ...given,
  }
  const around = { ...options, limits: new SiteLimits(options) }
  let count = 0
  const arrive = (headers: Record<string, string> = {}, remoteAddress = visitor, query = '') => {
    const request: HttpRequest = new Request(`http://127.0.0.1/${query}`, { headers })
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
    settingNames: { ALLOWED_ORIGINS: `sites.${name}.origins` },
  })
  const standard = site('default')
  const sites = new Sites([standard, site('launch')], true, standard)
  const at = (query: string, headers = {}) => receive({ sites }).arrive(headers, visitor, query)

  test.each([
    ['', false],
    ['?site=launch', false],
    ['?site=nobody', true],
  ])('is unknown in the address "%s": %s', (query, isUnknown) => {
    expect(at(query).isSiteUnknown).toBe(isUnknown)
  })

  test('is told to be wrong when the body names another one than the address does', () => {
    const message = 'The body names another site than the address does.'
    expect(() => at('?site=launch').useSiteOfBody('default')).toThrow(
      expect.objectContaining({ kind: 'fields', errors: [{ field: 'site', message }] }),
    )
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
