import { sha256 } from '../platform/node/digest.ts'
import { ApiKeys } from './api-keys.ts'
import { describe, expect, test } from 'vitest'
import { noContent } from './answer.ts'
import { type AnsweredRequest, createEdge, type EdgeOptions } from './edge.ts'
import { responseOf } from './fetch.ts'
import { problem } from './problem.ts'
import { refuse } from './refuse.ts'
import { type Handler, Router } from './router.ts'
import { type EdgeSite, Sites } from './sites.ts'
import { environmentNames } from '../signup/setting-names.ts'

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** An edge with one path. Its events are told in order. */
function createApplication(
  handle: Handler,
  { origins, signupsPerMinute, ...given }: Partial<EdgeOptions & EdgeSite> = {},
  isPublic = false,
) {
  const events: unknown[][] = []
  const site = {
    name: 'default',
    origins: origins ?? ['https://www.example.com'],
    signupsPerMinute: signupsPerMinute ?? 0,
    settingNames: environmentNames,
  }
  const router = new Router()
  router.add('/', { GET: handle, POST: handle, isPublic })
  const application = createEdge({
    sites: new Sites([site], false),
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
    apiKeys: new ApiKeys([], sha256),
    showRefusal: (refusal, { requestId }) => problem(refusal, requestId),
    ...given,
  })
  const ask = async (headers: Record<string, string> = {}, method = 'GET') => {
    const request = new Request('http://signup.example.com/', { method, headers })
    const answer = await application.fetch(request, { remoteAddress: '203.0.113.7' })
    return responseOf(answer, method)
  }
  return { application, ask, events }
}

const nothing: Handler = () => noContent([])

describe('an answer', () => {
  test('has security headers, a new id, and tells caches that it depends on the origin', async () => {
    const { ask, events } = createApplication(() => noContent(['allow', 'GET']))
    const { status, headers } = await ask()
    expect([status, headers.get('allow'), headers.get('vary')]).toEqual([204, 'GET', 'Origin'])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-request-id')).toMatch(uuid)
    expect(headers.has('access-control-allow-origin')).toBe(false)
    expect(headers.has('ratelimit')).toBe(false)
    expect(events).toEqual([])
  })

  test('tells the limit of the client when its signups were counted', async () => {
    const { ask } = createApplication(
      (exchange) => {
        exchange.take(2)
        return noContent([])
      },
      { signupsPerMinute: 5 },
    )
    const { headers } = await ask()
    expect(headers.get('ratelimit-policy')).toBe('"signups";q=5;w=60')
    expect(headers.get('ratelimit')).toBe('"signups";r=3;t=60')
  })

  test('rounds the seconds of a limit up', async () => {
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
})

describe('a page of an origin that is not allowed', () => {
  const foreign = { origin: 'https://evil.example' }

  test.each([
    ['GET', '*'],
    ['POST', null],
  ])('is refused a %s, and may read why: %s', async (method, readable) => {
    const { ask, events } = createApplication(nothing)
    const { status, headers } = await ask(foreign, method)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([403, readable])
    const id = headers.get('x-request-id')
    expect(events).toEqual([
      ['origin', 'https://evil.example', id],
      ['refused', 'origin', id],
    ])
  })

  test('is named only if it is a plain origin', async () => {
    const { ask, events } = createApplication(nothing)
    await ask({ origin: 'null' })
    expect(events[0]).toEqual(['origin', undefined, expect.any(String)])
  })

  test('gets what is public, and may read it', async () => {
    const { ask, events } = createApplication(nothing, {}, true)
    expect((await ask(foreign)).status).toBe(204)
    expect((await ask(foreign, 'POST')).status).toBe(403)
    expect(events).toHaveLength(2)
  })
})

test.each<[Record<string, string>, string | null]>([
  [{}, null],
  [{ origin: 'https://www.example.com' }, 'https://www.example.com'],
  [
    { origin: 'https://signup.example.com', host: 'signup.example.com' },
    'https://signup.example.com',
  ],
])('a request with %j is answered, and may be read by the origin %s', async (headers, readable) => {
  const { status, headers: answered } = await createApplication(nothing).ask(headers, 'POST')
  expect([status, answered.get('access-control-allow-origin')]).toEqual([204, readable])
})

describe('a request that fails', () => {
  test('with a refusal is answered with it, and reported with the id of its answer', async () => {
    const { ask, events } = createApplication(() => {
      throw refuse.noSuchSignup()
    })
    const answer = await ask({ origin: 'https://www.example.com' })
    const id = answer.headers.get('x-request-id')
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://www.example.com')
    expect(answer.headers.get('vary')).toBe('Accept, Origin')
    expect(await answer.json()).toMatchObject({ status: 404, requestId: id })
    expect(events).toEqual([['refused', 'noSuchSignup', id]])
  })

  test('with any other error is answered with a 500 that does not tell it', async () => {
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
})

test('input that is no request is answered and reported like a refused request', async () => {
  const { application, events } = createApplication(nothing)
  const answer = responseOf(application.refuse('tooSlow'), 'GET')
  const id = answer.headers.get('x-request-id')
  expect(id).toMatch(uuid)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/problem+json',
    'x-content-type-options': 'nosniff',
    vary: 'Accept',
  })
  expect(await answer.json()).toMatchObject({ status: 408, requestId: id })
  expect(events).toEqual([['refused', 'tooSlow', id]])
})

describe('the id that a request brings', () => {
  const idFor = async (given: string, trustedProxies: number) => {
    const { ask } = createApplication(nothing, { trustedProxies })
    return (await ask({ 'x-request-id': given })).headers.get('x-request-id')
  }

  test.each(['a'.repeat(16), 'F-0'.repeat(21), '0'.repeat(64)])(
    'is kept when a trusted proxy sends it: %s',
    async (id) => {
      expect(await idFor(id, 1)).toBe(id)
      expect(await idFor(id, 0)).toMatch(uuid)
    },
  )

  test.each([
    'a'.repeat(15),
    'a'.repeat(65),
    `${'a'.repeat(16)} `.repeat(2),
    'ada@example.com-1234',
  ])('is replaced when it looks like anything else: %s', async (id) => {
    expect(await idFor(id, 1)).toMatch(uuid)
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

  test('tell route, method, status and time of each answer, whatever was asked', async () => {
    const { ask, application, answered } = observed(nothing)
    await ask()
    await ask({}, 'DELETE')
    const request = new Request('http://signup.example.com/ada@example.com')
    await application.fetch(request, { remoteAddress: undefined })
    application.refuse('tooSlow')
    const ms = 7
    expect(answered).toEqual([
      { route: '/', method: 'GET', status: 204, ms },
      { route: '/', method: 'DELETE', status: 405, ms },
      { route: undefined, method: 'GET', status: 404, ms },
      { route: undefined, method: undefined, status: 408, ms: 0 },
    ])
  })

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
