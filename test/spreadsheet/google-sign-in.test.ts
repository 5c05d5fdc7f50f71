import { createPrivateKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { startLoopbackServer } from '../../emulators/loopback-server.ts'
import {
  createSignInWays,
  secrets,
  sheetsScope,
  type SignInWays,
} from '../../harness/sign-in-ways.ts'
import { readCredentials } from '../../src/config/google-key/sign-in.ts'
import { Wrong } from '../../src/config/kind.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { type HttpClient, HttpFailure } from '../../src/platform/http-client.ts'
import { httpClient } from '../../src/platform/node/http-client.ts'
import {
  AccessTokens,
  type AskForToken,
  keyTokens,
  signWith,
} from '../../src/spreadsheet/google/access-token.ts'
import { machineTokens } from '../../src/spreadsheet/google/machine-token.ts'
import { tokensBy } from '../../src/service/spreadsheets.ts'
import { testSignal } from './spreadsheet-contract.ts'

function signIn({ emulator }: Pick<SignInWays, 'emulator'>, ask: AskForToken, http = httpClient) {
  const { tokenUrl } = emulator
  return new AccessTokens({ ask, tokenUrl, http, clock: systemClock }).get(testSignal)
}

/** By a credentials file with this content. */
function tokensOf(file: Readonly<Record<string, unknown>>): AskForToken {
  const account = readCredentials(JSON.stringify(file))
  if (account instanceof Wrong) return expect.fail(account.problem)
  return tokensBy(account.signIn, { signWith })
}

interface Mistake {
  readonly what: string
  readonly hint: RegExp
  readonly file: (ways: SignInWays) => unknown
}

const refusals: readonly Mistake[] = [
  {
    what: 'a person who has taken the access back',
    hint: /^127\.0\.0\.1:\d+ says: Token has been expired or revoked\. Check/,
    file: ({ files }) => ({ ...files.user, refresh_token: 'revoked' }),
  },
  {
    what: 'a proof that the pool does not take',
    hint: /says: The given credential is rejected by the attribute condition\. /,
    file: async ({ pool, fileAt }) => pool({ file: await fileAt('other', 'another proof') }),
  },
  {
    what: 'an identity that may not act as the account',
    hint: /says: Permission 'iam\.serviceAccounts\.getAccessToken' denied/,
    file: ({ files, office }) => {
      office.registerIdentity({ email: 'eve', secret: 'of-eve', scopes: [sheetsScope] })
      const source = { ...files.user, refresh_token: 'of-eve' }
      return { ...files.impersonated, source_credentials: source }
    },
  },
  {
    what: 'a proof that is not there',
    hint: /^The proof of credential_source cannot be read \(ENOENT\)\. /,
    file: ({ pool }) => pool({ file: '/nowhere/proof' }),
  },
  {
    what: 'a proof that is no JSON, of which nothing is told',
    hint: /^The proof of credential_source cannot be read\. /,
    file: async ({ pool, fileAt }) =>
      pool({
        file: await fileAt('json', secrets.proof),
        format: { type: 'json', subject_token_field_name: 'token' },
      }),
  },
]

test('a key that may not act as a person is for an administrator to mend, and the person is not named', async () => {
  await using ways = await createSignInWays()
  const { email, env } = ways.google
  const sign = signWith(env['SHEETS_PRIVATE_KEY'] ?? '')
  const ask = keyTokens({ email, sign, subject: 'grace@example.com' })
  const token = await signIn(ways, ask)
  expect(token).toMatchObject({
    ...{ kind: 'refused', message: 'Invalid Credentials' },
    hint: expect.stringMatching(
      /^Google says: Client is unauthorized .* \(domain-wide delegation\)/,
    ),
  })
  expect(JSON.stringify(token)).not.toContain('grace')
})

test.each(refusals)('$what is for a person to mend', async ({ file, hint }) => {
  await using ways = await createSignInWays()
  const content = (await file(ways)) as Readonly<Record<string, unknown>>
  const token = await signIn(ways, tokensOf(content))
  expect(token).toMatchObject({
    kind: 'refused',
    reason: 'credentials',
    message: 'Invalid Credentials',
  })
  expect(token).toMatchObject({ hint: expect.stringMatching(hint) })
  const told = JSON.stringify(token)
  for (const secret of Object.values(secrets)) expect(told).not.toContain(secret)
})

const all = ['user', 'impersonated', 'poolFile', 'poolUrl', 'aws'] as const

test.each(all)(
  'an outage of Google is tried again by us alone, within our bounds: %s',
  async (name) => {
    await using ways = await createSignInWays()
    const { emulator, files } = ways
    emulator.faults.add({ on: 'token', answer: 'unavailable', times: 0 })
    const bounds = new Set<string>()
    const token = await signIn(ways, tokensOf(files[name]), (request) => {
      bounds.add(`${request.timeoutMs} ms, ${request.answerBytesMax} bytes`)
      return httpClient(request)
    })
    expect(token).toMatchObject({
      kind: 'retryable',
      message: expect.stringMatching(/answered HTTP 503$/),
    })
    expect([...bounds]).toEqual(['30000 ms, 1048576 bytes'])
    expect(emulator.counters.tokens).toBe(1)
  },
)

test.each(['poolFile', 'impersonated'] as const)(
  'a token of under an hour is asked for, whatever the file says: %s',
  async (name) => {
    await using ways = await createSignInWays()
    const long = { service_account_impersonation: { token_lifetime_seconds: 43_200 } }
    const asked: unknown[] = []
    const http: HttpClient = (request) => {
      if (request.url.endsWith(':generateAccessToken')) {
        asked.push(JSON.parse(String(request.body)))
      }
      return httpClient(request)
    }
    await signIn(ways, tokensOf({ ...ways.files[name], ...long, lifetime: 43_200 }), http)
    expect(asked).toMatchObject([{ scope: [sheetsScope], lifetime: '3300s' }])
  },
)

test.each([...all, 'machine'] as const)(
  'a token that may live for more than an hour is refused, and one of an hour is not: %s',
  async (name) => {
    await using ways = await createSignInWays()
    const { emulator, office, files } = ways
    const ask = name === 'machine' ? machineTokens(emulator.url) : tokensOf(files[name])
    for (const life of [43_200, 3_601, undefined]) {
      office.lifetimeSeconds = life
      expect(await signIn(ways, ask)).toMatchObject({
        ...{ kind: 'refused', reason: 'tokenLife' },
        hint: expect.stringMatching(life ? `^Its life is ${life} s` : '^Its life is not told'),
      })
    }
    office.lifetimeSeconds = 3_600
    expect(await signIn(ways, ask)).toMatchObject({ kind: 'token' })
  },
)

test('a metadata server that does not answer is given up after two seconds', async () => {
  await using ways = await createSignInWays()
  const silent = await startLoopbackServer(() => new Promise(() => undefined))
  const token = await signIn(ways, machineTokens(silent.url))
  await silent.stop()
  expect(token).toMatchObject({
    ...{ kind: 'refused', reason: 'machine' },
    hint: expect.stringContaining('no answer within 2000 ms'),
  })
})

test('a metadata server that has worked may fail for a while, and need not tell the address', async () => {
  await using ways = await createSignInWays()
  const { emulator } = ways
  const ask = machineTokens(emulator.url)
  let isDown = false
  const http: HttpClient = (request) => {
    if (isDown || request.url.endsWith('/email')) throw new HttpFailure('no answer came')
    return httpClient(request)
  }
  const token = await signIn(ways, ask, async (request) => http(request))
  expect(token).toEqual({ kind: 'token', token: expect.any(String), seconds: expect.any(Number) })
  isDown = true
  expect(await signIn(ways, ask, async (request) => http(request))).toMatchObject({
    ...{ kind: 'retryable', message: 'no answer came' },
  })
  isDown = false
  ways.office.machine = undefined
  expect(await signIn(ways, ask)).toMatchObject({
    ...{ kind: 'retryable', message: expect.stringContaining('names no service account') },
  })
})

test('a service account may impersonate another one by a key in the older form, PKCS#1', async () => {
  await using ways = await createSignInWays()
  const { email, env } = ways.google
  const key = createPrivateKey(env['SHEETS_PRIVATE_KEY'] ?? '')
  const source_credentials = {
    ...{ type: 'service_account', client_email: email },
    private_key: key.export({ type: 'pkcs1', format: 'pem' }),
  }
  ways.office.allow(email, ways.robot)
  const ask = tokensOf({ ...ways.files.impersonated, source_credentials })
  expect(await signIn(ways, ask)).toMatchObject({ kind: 'token' })
})

test('another server in the place of the metadata server, and a machine without an account, are told', async () => {
  await using ways = await createSignInWays()
  const other = await startLoopbackServer(async (_, response) => void response.end('Welcome'))
  expect(await signIn(ways, machineTokens(other.url))).toMatchObject({
    hint: expect.stringContaining('names no service account'),
  })
  await other.stop()
  ways.office.machine = undefined
  expect(await signIn(ways, machineTokens(ways.emulator.url))).toMatchObject({
    hint: expect.stringContaining('names no service account'),
  })
})
