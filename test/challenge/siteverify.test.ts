import { describe, expect, test } from 'vitest'

import { environmentNames } from '../../src/platform/setting-names.ts'
import { providerNames, type ProviderName } from '../../emulators/challenge/providers.ts'
import type { Fault } from '../../emulators/challenge/faults.ts'
import type { Attempt, Challenge, Verdict } from '../../src/challenge/challenge.ts'
import { createSiteverify, type SiteverifyOptions } from '../../src/challenge/siteverify.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { httpClient } from '../../src/platform/node/http-client.ts'
import { type ChallengeWorld, createChallengeWorld } from '../../harness/challenge-world.ts'

function connect(
  { site, env }: ChallengeWorld,
  options: Partial<SiteverifyOptions> = {},
): Challenge {
  const challenge = createSiteverify({
    provider: site.provider,
    siteKey: site.siteKey,
    secret: site.secret,
    names: environmentNames,
    verifyUrl: env['CHALLENGE_VERIFY_URL'],
    http: httpClient,
    clock: systemClock,
    ...options,
  })
  return {
    ...challenge,
    async verify(attempted) {
      const { askedMs: _, ...verdict } = await challenge.verify(attempted)
      return verdict
    },
  }
}

const attempt = (token: string | undefined, submissionId = 'one'): Attempt => ({
  token,
  submissionId,
})

describe.each(providerNames)('%s', (provider: ProviderName) => {
  test('a good token passes once', async () => {
    await using world = await createChallengeWorld(provider)
    const challenge = connect(world)
    const token = world.token()
    expect(await challenge.verify(attempt(token))).toEqual({ kind: 'passed' })
    expect(await challenge.verify(attempt(token, 'another'))).toMatchObject({ kind: 'rejected' })
  })

  test('a forged token is rejected, and a wrong secret is reported as the operator’s mistake', async () => {
    await using world = await createChallengeWorld(provider)
    expect(await connect(world).verify(attempt('forged'))).toMatchObject({
      kind: 'rejected',
      reason: 'invalid-input-response',
    })
    const wrong = connect(world, { secret: 'wrong' })
    expect(await wrong.verify(attempt(world.token()))).toMatchObject({ kind: 'misconfigured' })
  })

  test('when an answer is lost before the token is spent, a second call passes', async () => {
    await using world = await createChallengeWorld(provider)
    world.emulator.faults.add({ redeem: 'never', answer: 'drop' })
    expect(await connect(world).verify(attempt(world.token()))).toEqual({ kind: 'passed' })
    expect(world.emulator.counters).toMatchObject({ calls: 2, passed: 1, lost: 1 })
  })

  test('a call has the visitor’s address when it is known', async () => {
    await using world = await createChallengeWorld(provider)
    const challenge = connect(world)
    await challenge.verify({ ...attempt(world.token()), remoteAddress: '203.0.113.7' })
    await challenge.verify(attempt(world.token()))
    const [first, second] = world.emulator.calls
    expect(first?.fields).toMatchObject({ remoteip: '203.0.113.7' })
    expect(second?.fields).not.toHaveProperty('remoteip')
  })
})

test.each<[string, string | undefined, number]>([
  ['a missing token', undefined, 0],
  ['a token of 2,049 characters', 'x'.repeat(2_049), 0],
  ['a token of 2,048 characters', 'x'.repeat(2_048), 1],
])('%s is rejected, after %i calls', async (_, token, calls) => {
  await using world = await createChallengeWorld()
  expect(await connect(world).verify(attempt(token))).toMatchObject({ kind: 'rejected' })
  expect(world.emulator.counters.calls).toBe(calls)
})

test('when an answer of Turnstile is lost after the token was spent, a second call with the same key passes', async () => {
  await using world = await createChallengeWorld('turnstile')
  world.emulator.faults.add({ redeem: 'now', answer: 'drop' })
  expect(await connect(world).verify(attempt(world.token()))).toEqual({ kind: 'passed' })
  const [first, second] = world.emulator.calls
  expect(first?.fields['idempotency_key']).toMatch(/^[0-9a-f-]{36}$/)
  expect(second?.fields).toEqual(first?.fields)
})

test.each(['hcaptcha', 'recaptcha'] as const)(
  'when an answer of %s is lost after the token was spent, there is no verdict',
  async (provider) => {
    await using world = await createChallengeWorld(provider)
    world.emulator.faults.add({ redeem: 'now', answer: 'drop' })
    const verdict = await connect(world).verify(attempt(world.token()))
    expect(verdict).toMatchObject({ kind: 'unavailable' })
    expect(world.emulator.calls[0]?.fields).not.toHaveProperty('idempotency_key')
  },
)

test('the same submission with the same token passes again, as after a crash', async () => {
  await using world = await createChallengeWorld()
  const token = world.token()
  expect(await connect(world).verify(attempt(token, 'mine'))).toEqual({ kind: 'passed' })
  // Another process remembers nothing. Only the provider does.
  expect(await connect(world).verify(attempt(token, 'mine'))).toEqual({ kind: 'passed' })
  expect(await connect(world).verify(attempt(token, 'yours'))).toMatchObject({ kind: 'rejected' })
})

test.each<[string, Fault, number, Partial<Verdict>]>([
  ['dropped connections', { times: 0, answer: 'drop' }, 2, {}],
  ['HTTP 500 with a page', { times: 0, answer: 'serverError' }, 2, {}],
  ['internal-error', { times: 0, answer: 'internalError' }, 2, {}],
  ['HTTP 429', { times: 0, answer: 'tooMany' }, 1, { retryAfterSeconds: 5 }],
  ['a body of 100,000 bytes', { times: 0, answer: { body: 'x'.repeat(100_000) } }, 2, {}],
])(
  'after %s from the provider there is no verdict, and the token stays good',
  async (_, fault, calls, expected) => {
    await using world = await createChallengeWorld()
    const challenge = connect(world)
    const token = world.token()
    world.emulator.faults.add(fault)
    expect(await challenge.verify(attempt(token))).toMatchObject({
      kind: 'unavailable',
      ...expected,
    })
    expect(world.emulator.counters.calls).toBe(calls)
    world.emulator.faults.clear()
    expect(await challenge.verify(attempt(token))).toEqual({ kind: 'passed' })
  },
)

test('a provider that cannot be reached at all gives no verdict', async () => {
  await using world = await createChallengeWorld()
  const challenge = connect(world)
  const token = world.token()
  await world.emulator.stop()
  expect(await challenge.verify(attempt(token))).toMatchObject({
    kind: 'unavailable',
    message: expect.stringMatching(/^Turnstile gave no verdict: POST http:\/\/127\.0\.0\.1/),
  })
})

test('a call without an answer is made twice, and waits four seconds each time', async () => {
  const waits: number[] = []
  const challenge = createSiteverify({
    provider: 'turnstile',
    siteKey: 'key',
    secret: 'secret',
    names: environmentNames,
    clock: { ...systemClock, sleep: async () => undefined },
    http: async (request) => {
      waits.push(request.timeoutMs)
      return { status: 200, headers: new Headers(), text: '' }
    },
  })
  expect(await challenge.verify(attempt('token'))).toMatchObject({ kind: 'unavailable' })
  expect(waits).toEqual([4_000, 4_000])
})

test('at most 1,000 calls wait at once, and the next visitor gets no verdict at once', async () => {
  const { promise: answers, resolve } = Promise.withResolvers<undefined>()
  let calls = 0
  const challenge = createSiteverify({
    provider: 'turnstile',
    siteKey: 'key',
    secret: 'secret',
    names: environmentNames,
    clock: systemClock,
    http: async () => {
      calls += 1
      await answers
      return { status: 200, headers: new Headers(), text: '{"success":true}' }
    },
  })
  const waiting = Array.from({ length: 1_000 }, () => challenge.verify(attempt('token')))
  expect(await challenge.verify(attempt('token'))).toMatchObject({ kind: 'unavailable' })
  expect(calls).toBe(1_000)
  resolve(undefined)
  expect((await Promise.all(waiting)).every(({ kind }) => kind === 'passed')).toBe(true)
  expect(await challenge.verify(attempt('token'))).toMatchObject({ kind: 'passed' })
})

test('a failure of our own code is no answer of the provider', async () => {
  await using world = await createChallengeWorld()
  const challenge = connect(world, { http: async () => Promise.reject(new TypeError('a bug')) })
  await expect(challenge.verify(attempt('token'))).rejects.toThrow('a bug')
})

test('a token from a host that is not listed is rejected', async () => {
  await using world = await createChallengeWorld()
  const challenge = connect(world, { hostnames: ['example.com'] })
  const elsewhere = world.emulator.issueToken(world.site, { hostname: 'evil.example' })
  const ours = world.emulator.issueToken(world.site, { hostname: 'example.com' })
  expect(await challenge.verify(attempt(elsewhere))).toMatchObject({ kind: 'rejected' })
  expect(await challenge.verify(attempt(ours))).toEqual({ kind: 'passed' })
})

test.each(['hcaptcha', 'recaptcha'] as const)(
  'a token of %s from a host that is not listed is rejected, also when the first answer is lost',
  async (provider) => {
    await using world = await createChallengeWorld(provider)
    world.emulator.faults.add({ redeem: 'never', answer: 'drop' })
    const token = world.emulator.issueToken(world.site, { hostname: 'evil.example' })
    const challenge = connect(world, { hostnames: ['example.com'] })
    expect(await challenge.verify(attempt(token))).toMatchObject({ kind: 'rejected' })
  },
)

test('a token of another site of the same hCaptcha account is reported as the operator’s mistake', async () => {
  await using world = await createChallengeWorld('hcaptcha')
  const challenge = connect(world, { siteKey: 'another-site-key' })
  expect(await challenge.verify(attempt(world.token()))).toMatchObject({
    kind: 'misconfigured',
    message: 'Invalid challenge token',
  })
})
