import { describe, expect, test } from 'vitest'

import { environmentNames } from '../platform/setting-names.ts'
import type { Verdict } from './challenge.ts'
import { judge, type JudgeOptions } from './judge.ts'
import { isTestSecret, type ProviderName, widgetOf } from './providers.ts'

const ours: JudgeOptions = {
  provider: 'turnstile',
  secret: '0x4secret',
  names: environmentNames,
}

interface Answered {
  readonly status?: number
  readonly options?: Partial<JudgeOptions>
}

function judged(body: unknown, { status = 200, options }: Answered = {}): Verdict {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return judge({ status, text }, { ...ours, ...options })
}

const failure = (...codes: unknown[]) => ({ success: false, 'error-codes': codes, messages: [] })
/** As their providers publish them. */
const testSecrets = [
  ['turnstile', '1x0000000000000000000000000000000AA'],
  ['turnstile', '2x0000000000000000000000000000000AA'],
  ['turnstile', '3x0000000000000000000000000000000AA'],
  ['hcaptcha', '0x0000000000000000000000000000000000000000'],
  ['recaptcha', '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe'],
] as const
const [[, testSecret]] = testSecrets

test.each<[string, unknown]>([
  ['success as text', { success: 'true' }],
  ['no success at all', { hostname: 'example.com' }],
  ['a page', '<html>success: true</html>'],
  ['a list', [{ success: true }]],
  ['an internal error', failure('internal-error')],
])('%s is no verdict, and the same call may bring one', (_, body) => {
  expect(judged(body)).toMatchObject({
    ...{ kind: 'unavailable', isPassing: true, retryAfterSeconds: 5 },
    message: expect.stringContaining('Turnstile gave no verdict: it'),
  })
})

test.each<[string, unknown, string]>([
  ['a token without a reason', failure(), 'no error code'],
  ['a failure without codes', { success: false }, 'no error code'],
  ['a code never seen before', failure('new-code'), 'new-code'],
  [
    'the first that looks like a code',
    failure(7, null, 'token=abc123 and more', 'already-seen-response'),
    'already-seen-response',
  ],
])('%s is refused, and what does not look like a code goes no further', (_, body, reason) => {
  expect(judged(body)).toMatchObject({ kind: 'rejected', reason })
})

test.each([
  [500, true],
  [429, false],
  [301, false],
])('status %i is no verdict, even if the body says success; passing: %s', (status, isPassing) => {
  const verdict = { kind: 'unavailable', isPassing, retryAfterSeconds: 5 }
  expect(judged({ success: true }, { status })).toMatchObject(verdict)
})

test('with another status than 200, a bad token is no verdict, and a bad secret is a wrong setting', () => {
  expect(judged(failure('invalid-input-response'), { status: 400 }).kind).toBe('unavailable')
  expect(judged(failure('invalid-input-secret'), { status: 400 }).kind).toBe('misconfigured')
})

describe('the host name', () => {
  const options = { hostnames: ['example.com', 'www.example.com'] }
  const from = (hostname?: string) => ({ success: true, hostname, action: '' })

  test.each(['example.com', 'www.example.com', 'EXAMPLE.com'])('%s may pass', (hostname) => {
    expect(judged(from(hostname), { options })).toEqual({ kind: 'passed' })
  })

  test.each([
    ['evil.example', 'evil.example'],
    ['example.com.evil.example', 'example.com.evil.example'],
    ['', 'unknown'],
    [undefined, 'unknown'],
    ['not a host\nat all', 'unknown'],
  ])('%s may not pass, and the operator gets a hint', (hostname, named) => {
    expect(judged(from(hostname), { options })).toEqual({
      kind: 'rejected',
      reason: `the token is from the host ${named}`,
      hint: expect.stringContaining('CHALLENGE_HOSTNAMES'),
      isFinal: true,
    })
  })

  test('any host may pass when the settings list none', () => {
    expect(judged(from('evil.example'))).toEqual({ kind: 'passed' })
    expect(judged(from())).toEqual({ kind: 'passed' })
  })

  test('is not checked with a test secret, because the answer then has a made-up host', () => {
    const tried = { options: { ...options, secret: testSecret } }
    expect(judged(from('example.net'), tried)).toEqual({ kind: 'passed' })
  })
})

test.each(['timeout-or-duplicate', 'expired-input-response', 'already-seen-response'])(
  '%s is common and gives the operator no hint',
  (reason) => expect(judged(failure(reason))).toEqual({ kind: 'rejected', reason }),
)

test('the hint for a forged token says that the keys may belong to different sites', () => {
  expect(judged(failure('invalid-input-response'))).toMatchObject({
    kind: 'rejected',
    hint: expect.stringContaining('different sites'),
  })
})

test.each<[string, ProviderName, string, RegExp]>([
  ['invalid-input-secret', 'turnstile', 'Turnstile refuses our calls', /SECRET/],
  ['missing-input-secret', 'recaptcha', 'reCAPTCHA refuses our calls', /SECRET/],
  ['bad-request', 'turnstile', 'Turnstile refuses our calls', /VERIFY_URL/],
  ['sitekey-secret-mismatch', 'hcaptcha', 'Invalid challenge token', /different sites/],
  ['missing-remoteip', 'hcaptcha', 'hCaptcha refuses our calls', /VERIFY_URL/],
])(
  '%s of %s is a wrong setting, and weighs more than other codes',
  (code, provider, says, hint) => {
    const body = failure('internal-error', 'invalid-input-response', code)
    const isMismatch = code === 'sitekey-secret-mismatch'
    expect(judged(body, { options: { provider } })).toEqual({
      kind: 'misconfigured',
      reason: isMismatch ? 'mismatch' : 'refused',
      message: isMismatch ? says : `${says}: ${code}`,
      hint: expect.stringMatching(hint),
      retryAfterSeconds: 30,
    })
  },
)

test('a token that a test secret does not accept is refused; the settings are not wrong', () => {
  const tried = { options: { secret: testSecret } }
  expect(judged(failure('invalid-input-secret'), tried).kind).toBe('rejected')
  expect(judged(failure('bad-request'), tried).kind).toBe('misconfigured')
})

test('only the published test secrets count as test secrets', () => {
  for (const [name, secret] of testSecrets) expect(isTestSecret(name, secret)).toBe(true)
  expect(isTestSecret('turnstile', '1x000000000000000000000000000000AA')).toBe(false)
  expect(isTestSecret('recaptcha', testSecret)).toBe(false)
})

test('a widget allows its provider’s origins and that of a custom script, and none when the challenge is off', () => {
  const widget = { provider: 'turnstile', siteKey: 'key' } as const
  const own = 'https://challenges.cloudflare.com'
  expect(widgetOf(widget)).toEqual({
    ...widget,
    scriptUrl: `${own}/turnstile/v0/api.js`,
    origins: [own],
  })
  expect(widgetOf({ ...widget, scriptUrl: 'https://proxy.example/api.js' })).toMatchObject({
    scriptUrl: 'https://proxy.example/api.js',
    origins: ['https://proxy.example', own],
  })
  expect(widgetOf({ ...widget, siteKey: null }).origins).toEqual([])
})
