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

test.each([
  ['challenge', 0],
  ['unexpected', undefined],
] as const)('a signup that is refused, by %s, leaves %s', (kind, remaining) => {
  const exchange = receive({ signupsPerMinute: 1 }).arrive()
  exchange.signups = 1
  exchange.countRefused(refuse[kind]())
  expect(exchange.allowance?.remaining).toBe(remaining)
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
