import { describe, expect, test } from 'vitest'

import { environmentNames } from '../signup/setting-names.ts'
import type { SiteverifyAnswer } from './answer.ts'
import { judge, type JudgeOptions } from './judge.ts'
import { isTestSecret, type ProviderName, providers, widgetOf } from './providers.ts'

const ours: JudgeOptions = {
  provider: 'turnstile',
  secret: '0x4secret',
  names: environmentNames.challenge,
}
const from = (hostname: string | undefined): SiteverifyAnswer => ({ kind: 'success', hostname })

describe('the host name', () => {
  const onlyOurs = { ...ours, hostnames: ['example.com', 'www.example.com'] }

  test.each(['example.com', 'www.example.com', 'EXAMPLE.com'])('%s may pass', (hostname) => {
    expect(judge(from(hostname), onlyOurs)).toEqual({ kind: 'passed' })
  })

  test.each([
    ['evil.example', 'evil.example'],
    ['sub.example.com', 'sub.example.com'],
    ['example.com.evil.example', 'example.com.evil.example'],
    ['', 'unknown'],
    [undefined, 'unknown'],
    ['not a host\nat all', 'unknown'],
  ])('%s may not pass, and the operator gets a hint', (hostname, named) => {
    expect(judge(from(hostname), onlyOurs)).toEqual({
      kind: 'rejected',
      reason: `the token is from the host ${named}`,
      hint: expect.stringContaining('CHALLENGE_HOSTNAMES'),
    })
  })

  test('any host may pass when the settings list none', () => {
    expect(judge(from('evil.example'), ours)).toEqual({ kind: 'passed' })
    expect(judge(from(undefined), ours)).toEqual({ kind: 'passed' })
  })

  test('is not checked with a test secret, because the answer then has a made-up host', () => {
    const [secret = ''] = providers.turnstile.testSecrets
    expect(judge(from('example.net'), { ...onlyOurs, secret })).toEqual({ kind: 'passed' })
  })
})

test.each(['timeout-or-duplicate', 'expired-input-response', 'already-seen-response'])(
  '%s is common and gives the operator no hint',
  (code) => {
    expect(judge({ kind: 'refused', code }, ours)).toEqual({ kind: 'rejected', reason: code })
  },
)

test('the hint for a forged token says that the keys may belong to different sites', () => {
  expect(judge({ kind: 'refused', code: 'invalid-input-response' }, ours)).toMatchObject({
    kind: 'rejected',
    hint: expect.stringContaining('different sites'),
  })
})

test.each<[string, ProviderName, string, RegExp]>([
  [
    'invalid-input-secret',
    'turnstile',
    'Turnstile refuses our calls: invalid-input-secret',
    /SECRET/,
  ],
  [
    'missing-input-secret',
    'recaptcha',
    'reCAPTCHA refuses our calls: missing-input-secret',
    /SECRET/,
  ],
  ['bad-request', 'turnstile', 'Turnstile refuses our calls: bad-request', /VERIFY_URL/],
  ['sitekey-secret-mismatch', 'hcaptcha', 'Invalid challenge token', /different sites/],
  ['missing-remoteip', 'hcaptcha', 'hCaptcha refuses our calls: missing-remoteip', /VERIFY_URL/],
])('%s of %s is a wrong setting, and the hint says what to do', (code, provider, message, hint) => {
  expect(judge({ kind: 'setup', code }, { ...ours, provider })).toEqual({
    kind: 'misconfigured',
    reason: code === 'sitekey-secret-mismatch' ? 'mismatch' : 'refused',
    message,
    hint: expect.stringMatching(hint),
    retryAfterSeconds: 30,
  })
})

test('a token that a test secret does not accept is refused; the settings are not wrong', () => {
  const [secret = ''] = providers.turnstile.testSecrets
  const answer = { kind: 'setup', code: 'invalid-input-secret' } as const
  expect(judge(answer, { ...ours, secret })).toMatchObject({ kind: 'rejected' })
})

test('an answer without a verdict keeps its reason, its cause and the time to wait', () => {
  const cause = new Error('socket hang up')
  const answer = { kind: 'none', message: 'it hung up', isPassing: true, cause } as const
  expect(judge(answer, ours)).toEqual({
    kind: 'unavailable',
    message: 'Turnstile gave no verdict: it hung up',
    retryAfterSeconds: 5,
    cause,
  })
  expect(judge({ ...answer, retryAfterSeconds: 17 }, ours)).toMatchObject({ retryAfterSeconds: 17 })
})

test('only the published test secrets count as test secrets', () => {
  expect(isTestSecret('turnstile', '1x0000000000000000000000000000000AA')).toBe(true)
  expect(isTestSecret('turnstile', '2x0000000000000000000000000000000AA')).toBe(true)
  expect(isTestSecret('turnstile', '3x0000000000000000000000000000000AA')).toBe(true)
  expect(isTestSecret('turnstile', '1x000000000000000000000000000000AA')).toBe(false)
  expect(isTestSecret('hcaptcha', '0x0000000000000000000000000000000000000000')).toBe(true)
  expect(isTestSecret('recaptcha', '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe')).toBe(true)
  expect(isTestSecret('recaptcha', '1x0000000000000000000000000000000AA')).toBe(false)
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
