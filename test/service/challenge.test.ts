import { describe, expect, test } from 'vitest'

import type { Fault } from '../../emulators/challenge/faults.ts'
import { providerRules } from '../../emulators/challenge/providers.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'
import { type ChallengeWorld, createChallengeWorld } from '../../harness/challenge-world.ts'
import { postBulk, postSignup } from '../../harness/post-signup.ts'
import { failedStart, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

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

async function statusAndDetail(answer: Response): Promise<unknown> {
  const { detail } = (await answer.json()) as { detail?: string }
  return [answer.status, detail]
}

/** How many rows were written, once all are. */
async function rowCount(service: Pick<BootedService, 'url' | 'output'>): Promise<number> {
  await expect.poll(() => get(service, '/api/ready')).toMatchObject({ delivery: { backlog: 0 } })
  const batches = [...service.output().matchAll(/"rows":(\d+),.*"batch written"/g)]
  return batches.reduce((rows, [, count]) => rows + Number(count), 0)
}

test('when both keys are set, a signup needs a token that passes, and the token is good once', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const challengeToken = world.token()
  expect((await postSignup(service.url, { ...ada, challengeToken })).status).toBe(202)
  const other = await postSignup(service.url, { email: 'bob@example.com', challengeToken })
  expect(await statusAndDetail(other)).toEqual([403, 'Invalid challenge token'])
  const again = await postSignup(service.url, { ...ada, challengeToken })
  expect(await statusAndDetail(again)).toEqual([403, 'Invalid challenge token'])
  expect(await rowCount(service)).toBe(1)
})

test('without keys a signup may have any token, and it is not checked', async () => {
  await using service = await bootService()
  const answer = await postSignup(service.url, { ...ada, challengeToken: 'anything' })
  expect(answer.status).toBe(202)
  expect(await get(service, '/api/config')).toMatchObject({
    challengeEnabled: false,
    challengeSiteKey: null,
    challengeProvider: 'turnstile',
    challengeScriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
  })
  expect(await get(service, '/api/ready')).toMatchObject({ challenge: { state: 'off' } })
})

test.each([
  ['CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY'],
  ['CHALLENGE_SECRET_KEY', 'CHALLENGE_SITE_KEY'],
])(
  'when only %s is set, the service does not start and says that %s is missing',
  async (one, other) => {
    const ended = await failedStart({ env: { [one]: 'key' } })
    expect(ended).toMatchObject({
      code: 2,
      output: expect.stringContaining(`${other}: is missing`),
    })
  },
)

test.each([
  ['turnstile', 'https://challenges.cloudflare.com/turnstile/v0/api.js'],
  ['hcaptcha', 'https://js.hcaptcha.com/1/api.js'],
  ['recaptcha', 'https://www.google.com/recaptcha/api.js'],
])('the public config with %s has what a page needs, and no secret', async (provider, url) => {
  const env = { CHALLENGE_SITE_KEY: 'my-site', CHALLENGE_SECRET_KEY: 'my-secret' }
  await using service = await bootService({ env: { ...env, CHALLENGE_PROVIDER: provider } })
  const config = await get(service, '/api/config')
  expect(config).toMatchObject({
    challengeEnabled: true,
    challengeSiteKey: 'my-site',
    challengeProvider: provider,
    challengeScriptUrl: url,
  })
  expect(JSON.stringify(config)).not.toContain('my-secret')
})

test('the public config has the address of the script that is set in place of the provider’s own', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  expect(await get(service, '/api/config')).toMatchObject({
    challengeScriptUrl: world.emulator.scriptUrl(),
  })
})

describe('without a call of the provider', () => {
  test.each([
    ['no token', {}],
    ['an empty token', { challengeToken: '' }],
    ['a token that is null', { challengeToken: null }],
    ['a token of 2,049 characters', { challengeToken: 'x'.repeat(2_049) }],
  ])('a signup with %s is answered 403', async (_, token) => {
    await using world = await createChallengeWorld()
    await using service = await boot(world)
    const answer = await postSignup(service.url, { ...ada, ...token })
    expect(await statusAndDetail(answer)).toEqual([403, 'Invalid challenge token'])
    expect(world.emulator.counters.calls).toBe(0)
  })

  test('a signup with a wrong field is answered 422, whatever its token, and a good token stays good', async () => {
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
})

test.each([
  ['forged', () => 'forged'],
  ['of another site', ({ emulator }: ChallengeWorld) => emulator.issueToken(emulator.createSite())],
  ['expired', ({ emulator, site }: ChallengeWorld) => emulator.issueToken(site, { lifeMs: 0 })],
])('a signup with a token that is %s is answered 403', async (_, token) => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const answer = await postSignup(service.url, { ...ada, challengeToken: token(world) })
  expect(await statusAndDetail(answer)).toEqual([403, 'Invalid challenge token'])
  expect(await get(service, '/api/ready?strict')).toMatchObject({ challenge: { state: 'ok' } })
})

test('a signup with a token from a host that is not listed is answered 403, and the log names the host', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world, { CHALLENGE_HOSTNAMES: 'example.com' })
  const tokenFrom = (hostname: string) => world.emulator.issueToken(world.site, { hostname })
  const good = await postSignup(service.url, { ...ada, challengeToken: tokenFrom('example.com') })
  expect(good.status).toBe(202)
  const bad = await postSignup(service.url, { ...ada, challengeToken: tokenFrom('other.example') })
  expect(bad.status).toBe(403)
  await expect.poll(() => service.output()).toMatch(/other\.example[^\n]*CHALLENGE_HOSTNAMES/)
})

test.each<[string, Fault]>([
  ['drops the connection', { times: 0, answer: 'drop' }],
  ['answers 502 with a page', { times: 0, answer: 'badGateway' }],
  ['answers success as text', { times: 0, answer: 'successAsText' }],
])(
  'while the provider %s signups are answered 503 and not stored, and later ones pass again',
  async (_, fault) => {
    await using world = await createChallengeWorld()
    await using service = await boot(world)
    const challengeToken = world.token()
    world.emulator.faults.add(fault)
    const answer = await postSignup(service.url, { ...ada, challengeToken })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(await get(service, '/api/ready')).toMatchObject({
      status: 'ready',
      challenge: {
        state: 'unavailable',
        error: 'The challenge provider gives no verdict just now',
      },
      delivery: { backlog: 0 },
    })
    world.emulator.faults.clear()
    expect((await postSignup(service.url, { ...ada, challengeToken })).status).toBe(202)
    expect(await get(service, '/api/ready')).toMatchObject({ challenge: { state: 'ok' } })
    expect(await rowCount(service)).toBe(1)
  },
)

test('a wrong secret is reported in the log and in /api/ready, and visitors get a 503 that does not mention it', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world, { CHALLENGE_SECRET_KEY: 'wrong-secret-key' })
  for (let visitor = 0; visitor < 3; visitor++) {
    const answer = await postSignup(service.url, { ...ada, challengeToken: world.token() })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('30')
    expect(await answer.text()).not.toMatch(/secret|misconfig/i)
  }
  const message = 'Turnstile refuses our calls: invalid-input-secret'
  const ready = await get(service, '/api/ready')
  expect(JSON.stringify(ready)).not.toMatch(/hint|CHALLENGE_|input-secret/)
  expect(ready).toMatchObject({
    challenge: {
      state: 'misconfigured',
      error: 'The challenge provider refuses our calls',
    },
  })
  expect((await fetch(`${service.url}/api/ready`)).status).toBe(200)
  expect((await fetch(`${service.url}/api/ready?strict`)).status).toBe(503)
  await service.stop()
  expect(service.output().split(message)).toHaveLength(2)
  expect(service.output()).toContain('into CHALLENGE_SECRET_KEY')
  expect(service.output()).not.toContain('wrong-secret-key')
})

test('a signup passes although the answer of the provider was lost after it had accepted the token', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  world.emulator.faults.add({ redeem: 'now', answer: 'drop' })
  expect((await postSignup(service.url, { ...ada, challengeToken: world.token() })).status).toBe(
    202,
  )
  const [first, second] = world.emulator.calls
  expect(second?.fields).toEqual(first?.fields)
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

test('a token that a signup was stored with is used up, even after a kill and a restart', async () => {
  await using world = await createChallengeWorld()
  await using folder = await tempFolder()
  const challengeToken = world.token()
  await using service = await startService({ env: world.env, dataDir: folder.path })
  expect((await postSignup(service.url, { ...ada, challengeToken })).status).toBe(202)
  await service.kill()
  await using again = await startService({ env: world.env, dataDir: folder.path })
  for (const email of [ada.email, 'bob@example.com']) {
    const answer = await postSignup(again.url, { email, challengeToken })
    expect(await statusAndDetail(answer)).toEqual([403, 'Invalid challenge token'])
  }
  expect((await postSignup(again.url, { ...ada, challengeToken: world.token() })).status).toBe(202)
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

test('when two equal signups come with one token at the same time, one is stored', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const body = { ...ada, challengeToken: world.token() }
  const answers = await Promise.all([postSignup(service.url, body), postSignup(service.url, body)])
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

test('a request that is repeated under its Idempotency-Key needs no token, and the provider is not called', async () => {
  await using world = await createChallengeWorld()
  await using service = await boot(world)
  const key = { 'idempotency-key': 'one' }
  const first = await postSignup(service.url, { ...ada, challengeToken: world.token() }, key)
  const replay = await postSignup(service.url, ada, key)
  expect([first.status, replay.status]).toEqual([202, 202])
  expect(replay.headers.get('idempotency-replayed')).toBe('true')
  expect(world.emulator.counters.calls).toBe(1)
})

describe('a form', () => {
  test.each([
    'challengeToken',
    'cf-turnstile-response',
    'h-captcha-response',
    'g-recaptcha-response',
  ])('may have the token in the field %s', async (field) => {
    await using world = await createChallengeWorld()
    await using service = await boot(world)
    const answer = await fetch(`${service.url}/api/signup`, {
      method: 'POST',
      body: new URLSearchParams({ ...ada, [field]: world.token() }),
    })
    expect(answer.status).toBe(202)
  })

  test('without a token is answered 403 with a page that has the form again', async () => {
    await using world = await createChallengeWorld()
    await using service = await boot(world)
    const answer = await fetch(`${service.url}/api/signup`, {
      method: 'POST',
      headers: { accept: 'text/html' },
      body: new URLSearchParams(ada),
    })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('content-type')).toMatch('text/html')
    expect(await answer.text()).toContain('ada@example.com')
  })
})

describe('a bulk request', () => {
  const signups = [ada, { email: 'nobody' }, { email: 'bob@example.com' }]

  test('needs one token, which is verified once', async () => {
    await using world = await createChallengeWorld()
    await using service = await boot(world)
    const answer = await postBulk(service.url, { signups, challengeToken: world.token() })
    expect(answer.status).toBe(207)
    expect(await answer.json()).toMatchObject({ accepted: 2, rejected: 1 })
    expect(world.emulator.counters.calls).toBe(1)
  })

  test('without a token is answered 403, and one with wrong signups only 422 without a call of the provider', async () => {
    await using world = await createChallengeWorld()
    await using service = await boot(world)
    expect(await statusAndDetail(await postBulk(service.url, { signups }))).toEqual([
      403,
      'Invalid challenge token',
    ])
    const nothing = { signups: [{ email: 'nobody' }], challengeToken: world.token() }
    expect((await postBulk(service.url, nothing)).status).toBe(422)
    expect(world.emulator.counters.calls).toBe(0)
  })
})

test.each([
  ['turnstile', '1x00000000000000000000AA', '1x0000000000000000000000000000000AA'],
  [
    'hcaptcha',
    '10000000-ffff-ffff-ffff-000000000001',
    '0x0000000000000000000000000000000000000000',
  ],
  [
    'recaptcha',
    '6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI',
    '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe',
  ],
])('the test keys of %s work, and the log warns of them once', async (provider, site, secret) => {
  await using world = await createChallengeWorld(provider as 'turnstile')
  const keys = { CHALLENGE_SITE_KEY: site, CHALLENGE_SECRET_KEY: secret }
  await using service = await boot(world, { ...keys, CHALLENGE_HOSTNAMES: 'mine.example' })
  const challengeToken = providerRules[world.site.provider].dummyToken
  expect((await postSignup(service.url, { ...ada, challengeToken })).status).toBe(202)
  await service.stop()
  expect(service.output().match(/it keeps no bot away/g)).toHaveLength(1)
  expect(service.output()).not.toContain(secret)
})

test('a signup with a token that the test secret does not accept is answered 403', async () => {
  await using world = await createChallengeWorld()
  const secret = '1x0000000000000000000000000000000AA'
  await using service = await boot(world, { CHALLENGE_SECRET_KEY: secret })
  expect((await postSignup(service.url, { ...ada, challengeToken: 'mine' })).status).toBe(403)
})

test('the log has neither the secret nor a token nor the address of a visitor, whatever the provider answers', async () => {
  await using world = await createChallengeWorld()
  await using service = await start(world, { TRUST_PROXY: '1' })
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

test('a start that fails because of a wrong setting of the challenge does not print its secret', async () => {
  const ended = await failedStart({
    env: { CHALLENGE_SECRET_KEY: 'my-own-secret', CHALLENGE_PROVIDER: 'nobody' },
  })
  expect(ended.code).toBe(2)
  expect(ended.output).toContain('CHALLENGE_PROVIDER')
  expect(ended.output).not.toContain('my-own-secret')
})
