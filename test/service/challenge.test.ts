import { expect, test } from 'vitest'

import type { Fault } from '../../emulators/challenge/faults.ts'
import { providerRules } from '../../emulators/challenge/providers.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { type ChallengeWorld, createChallengeWorld } from '../../harness/challenge-world.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { startService } from '../../harness/start-service.ts'

const ada = { email: 'ada@example.com' }

function boot({ env }: ChallengeWorld, more: Record<string, string> = {}) {
  return bootService({ env: { ...env, LOG_LEVEL: 'trace', ...more } })
}

function start({ env }: ChallengeWorld, more: Record<string, string> = {}) {
  return startService({ env: { ...env, LOG_LEVEL: 'trace', ...more } })
}

async function get(service: Pick<BootedService, 'url' | 'output'>, path: string): Promise<unknown> {
  return (await fetch(service.url + path)).json()
}

/** How many rows were written, once all are. */
async function rowCount(service: Pick<BootedService, 'url' | 'output'>): Promise<number> {
  await expect.poll(() => get(service, '/api/ready')).toMatchObject({ delivery: { backlog: 0 } })
  const batches = [...service.output().matchAll(/"rows":(\d+),.*"batch written"/g)]
  return batches.reduce((rows, [, count]) => rows + Number(count), 0)
}

test('a signup with a wrong field is answered 422 without a call of the provider, whatever its token, and a good token stays good', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  expect((await postSignup(service.url, { email: 'nobody' })).status).toBe(422)
  const challengeToken = world.token()
  expect((await postSignup(service.url, { email: 'nobody', challengeToken })).status).toBe(422)
  expect(world.emulator.counters.calls).toBe(0)
  expect((await postSignup(service.url, { ...ada, challengeToken })).status).toBe(202)
})

test('a signup over the rate limit of its client is refused before its token is checked', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world, { RATE_LIMIT_PER_MINUTE: '1', TRUST_PROXY: '1' })
  const from = { 'x-forwarded-for': '203.0.113.7' }
  expect(
    (await postSignup(service.url, { ...ada, challengeToken: world.token() }, from)).status,
  ).toBe(202)
  expect(
    (await postSignup(service.url, { ...ada, challengeToken: world.token() }, from)).status,
  ).toBe(429)
  expect(world.emulator.calls.map(({ fields }) => fields['remoteip'])).toEqual(['203.0.113.7'])
})

test('while the provider drops connections, signups are answered 503 and not stored, and later ones pass again', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const challengeToken = world.token()
  world.emulator.faults.add({ times: 0, answer: 'drop' })
  const answer = await postSignup(service.url, { ...ada, challengeToken })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('5')
  const error = 'The challenge provider gives no verdict just now'
  expect(await get(service, '/api/ready')).toMatchObject({
    status: 'ready',
    challenge: { state: 'unavailable', error },
    delivery: { backlog: 0 },
  })
  world.emulator.faults.clear()
  expect((await postSignup(service.url, { ...ada, challengeToken })).status).toBe(202)
  expect(await get(service, '/api/ready')).toMatchObject({ challenge: { state: 'ok' } })
  await expect.poll(() => rowCount(service)).toBe(1)
})

test('when the process is killed after it verified a token and before it stored the signup, the same request passes later', async () => {
  await using world = await createChallengeWorld()
  const body = { ...ada, challengeToken: world.token() }
  {
    await using service = await start(world)
    world.emulator.faults.add({ redeem: 'now', answer: 'real', delayMs: 60_000 })
    const lost = postSignup(service.url, body, { 'idempotency-key': 'one' }).catch(() => 'lost')
    await expect.poll(() => world.emulator.calls.length).toBe(1)
    await service.kill()
    expect(await lost).toBe('lost')
  }
  await using service = await start(world)
  expect((await postSignup(service.url, body, { 'idempotency-key': 'one' })).status).toBe(202)
  // The log of another process comes a moment later.
  await expect.poll(() => rowCount(service)).toBe(1)
})

test('when two different signups come with one token at the same time, one is stored', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const challengeToken = world.token()
  const answers = await Promise.all(
    ['ada', 'bob'].map((name) =>
      postSignup(service.url, { email: `${name}@example.com`, challengeToken }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 403])
})

test('when two equal requests come with one key and one token, the token is verified once and both get the same answer', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const key = { 'idempotency-key': 'one' }
  const body = { ...ada, challengeToken: world.token() }
  const answers = await Promise.all([
    postSignup(service.url, body, key),
    postSignup(service.url, body, key),
  ])
  expect(answers.map(({ status }) => status)).toEqual([202, 202])
  expect(world.emulator.counters.calls).toBe(1)
})

test('a form may have the token in the field of any provider', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const fields = ['challengeToken', 'cf-turnstile-response', 'h-captcha-response']
  for (const field of [...fields, 'g-recaptcha-response']) {
    const answer = await fetch(`${service.url}/api/signup`, {
      method: 'POST',
      body: new URLSearchParams({ ...ada, [field]: world.token() }),
    })
    expect(answer.status, field).toBe(202)
  }
})

test('a bulk request needs one token, which is verified once', async () => {
  const signups = [ada, { email: 'nobody' }, { email: 'bob@example.com' }]
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const answer = await postBulk(service.url, { signups, challengeToken: world.token() })
  expect(answer.status).toBe(207)
  expect(await answer.json()).toMatchObject({ accepted: 2, rejected: 1 })
  expect(world.emulator.counters.calls).toBe(1)
})

test('keys work for any host, and the log warns of them once', async () => {
  await using world = await createChallengeWorld()
  const secret = '1x0000000000000000000000000000000AA'
  const keys = { CHALLENGE_SITE_KEY: '1x00000000000000000000AA', CHALLENGE_SECRET_KEY: secret }
  await using service = await boot(world, { ...keys, CHALLENGE_HOSTNAMES: 'mine.example' })
  const challengeToken = providerRules.turnstile.dummyToken
  expect((await postSignup(service.url, { ...ada, challengeToken })).status).toBe(202)
  await service.stop()
  expect(service.output().match(/it keeps no bot away/g)).toHaveLength(1)
  expect(service.output()).not.toContain(secret)
})

test('the log has neither the secret nor a token nor the address of a visitor, whatever the provider answers', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world, { TRUST_PROXY: '1' })
  const from = { 'x-forwarded-for': '203.0.113.77' }
  const faults: Fault[] = [
    { answer: 'internalError' },
    { times: 2, answer: 'drop' },
    { times: 2, answer: 'html200' },
    { times: 2, answer: { body: '{"success":false,"error-codes":["token tok-secret is bad"]}' } },
    { answer: 'real', redeem: 'now' },
  ]
  const tokens = faults.map(() => world.token())
  for (const [index, fault] of faults.entries()) {
    world.emulator.faults.clear()
    world.emulator.faults.add(fault)
    const challengeToken = tokens[index]
    await postSignup(service.url, { email: `person${index}@example.com`, challengeToken }, from)
  }
  await postSignup(service.url, { ...ada, challengeToken: 'tok-secret' }, from)
  await service.stop()
  const output = service.output()
  expect(output).toContain('challenge tokens cannot be verified')
  for (const hidden of [...tokens, world.site.secret, 'tok-secret', '203.0.113.77', 'person']) {
    expect(output).not.toContain(hidden)
  }
})
