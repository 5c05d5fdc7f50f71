import { ApiKeys } from './api-keys.ts'
import { describe, expect, test } from 'vitest'
import { noContent } from './answer.ts'
import type { AnsweredRequest } from '../platform/http-exchange.ts'
import { createEdge, type EdgeOptions } from './edge.ts'
import { webResponse } from '../../harness/web-response.ts'
import { problem } from './problem.ts'
import { refuse } from './refuse.ts'
import { type Handler, Router } from './router.ts'
import { type EdgeSite, Sites } from './sites.ts'
import { environmentNames } from '../platform/setting-names.ts'

/** An edge with one path. Its events are told in order. */
function createApplication(
  handle: Handler,
  { signupsPerMinute = 0, ...given }: Partial<EdgeOptions & EdgeSite> = {},
) {
  const events: unknown[][] = []
  const site = {
    name: 'default',
    origins: ['https://www.example.com'],
    signupsPerMinute,
    settingNames: environmentNames,
  }
  const router = new Router()
  router.add('/', { GET: handle, POST: handle })
  const application = createEdge({
    sites: new Sites([site], false, site),
    allowedHosts: undefined,
    trustedProxies: 0,
    clock: { elapsed: () => 0 },
    warn: () => {},
    eventsOf: () => ({
      requestRefused: ({ kind }, id) => events.push(['refused', kind, id]),
      signupsRefused: () => {},
      originRefused: (origin, id) => events.push(['origin', origin, id]),
      requestFailed: (error, id) => events.push(['failed', error, id]),
    }),
    router,
    apiKeys: new ApiKeys([]),
    showRefusal: (refusal, { requestId }) => problem(refusal, requestId),
    ...given,
  })
  const ask = async (headers: Record<string, string> = {}, method = 'GET') => {
    const request = new Request('http://signup.example.com/', { method, headers })
    const answer = await application.fetch(request, { remoteAddress: '203.0.113.7' })
    return webResponse(answer)
  }
  return { application, ask, events }
}

test('the seconds of a limit are rounded up', async () => {
  let ms = 0
  const handle: Handler = (exchange) => {
    exchange.take(1)
    return noContent([])
  }
  const { ask } = createApplication(handle, { signupsPerMinute: 5, clock: { elapsed: () => ms } })
  await ask()
  ms = 58_999
  expect((await ask()).headers.get('ratelimit')).toBe('"signups";r=3;t=2')
})

test.each([
  [refuse.challenge(), '"signups";r=4;t=60'],
  [refuse.journalUnavailable(), null],
])('a refused signup counts, unless the fault is ours: $kind', async (refusal, limit) => {
  const handle: Handler = (exchange) => {
    exchange.signups = 1
    throw refusal
  }
  const { headers } = await createApplication(handle, { signupsPerMinute: 5 }).ask({}, 'POST')
  expect(headers.get('ratelimit')).toBe(limit)
})

test('an unexpected error is answered with a 500 that does not tell it', async () => {
  const error = new Error('password: 1234')
  const { ask, events } = createApplication(() => Promise.reject(error))
  const answer = await ask()
  const id = answer.headers.get('x-request-id')
  expect(answer.status).toBe(500)
  expect(await answer.text()).not.toContain('1234')
  expect(events).toEqual([
    ['failed', error, id],
    ['refused', 'unexpected', id],
  ])
})

describe('the API key of a request', () => {
  const withKeys = { apiKeys: new ApiKeys(['first-key']) }
  const keysOf = (handleOf: (keys: unknown[]) => Handler, more = {}) => {
    const keys: unknown[] = []
    return { keys, ...createApplication(handleOf(keys), { ...withKeys, ...more }) }
  }
  const noting =
    (keys: unknown[]): Handler =>
    ({ client }) => {
      keys.push(client.apiKey)
      return noContent([])
    }

  test('is read where signups are posted, and nowhere else', async () => {
    const { ask, keys } = keysOf(noting)
    const headers = { authorization: 'Bearer first-key' }
    await ask(headers, 'POST')
    await ask(headers)
    expect(keys).toEqual([expect.any(String), undefined])
  })
})

describe('the events of a request', () => {
  function observed(handle: Handler) {
    const answered: Omit<AnsweredRequest, 'requestId'>[] = []
    const refused: unknown[] = []
    const eventsOf = () => ({
      requestRefused: () => {},
      originRefused: () => {},
      requestFailed: () => {},
      signupsRefused: (reason: string, count: number) => refused.push([reason, count]),
    })
    const requestAnswered = ({ requestId: _, ...rest }: AnsweredRequest) => answered.push(rest)
    let elapsed = 0
    const clock = { elapsed: () => (elapsed += 7) }
    return { answered, refused, ...createApplication(handle, { eventsOf, requestAnswered, clock }) }
  }

  test('count the refused signups of a posted request, and none of any other', async () => {
    const { ask, refused } = observed((exchange) => {
      exchange.signups = 3
      throw refuse.challenge()
    })
    await ask({}, 'POST')
    await ask({ origin: 'https://other.example' }, 'POST')
    await ask()
    await ask({}, 'PUT')
    expect(refused).toEqual([
      ['challenge', 3],
      ['origin', 1],
    ])
  })
})
