import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { loadSettings as load, refusalOf } from '../../harness/load-settings.ts'

const both = { CHALLENGE_SITE_KEY: '0x4site', CHALLENGE_SECRET_KEY: '0x4secret' }

test('without keys the challenge is off, even if other CHALLENGE_ settings are set', () => {
  const unset = {
    CHALLENGE_SITE_KEY: '',
    CHALLENGE_SECRET_KEY: ' ',
    CHALLENGE_PROVIDER: 'hcaptcha',
  }
  expect(load(unset).config.sites[0].challenge).toBeUndefined()
})

test('both keys turn the challenge on, and the secret is not in the printable settings', () => {
  const { config, secrets } = load(both)
  expect(config.sites[0].challenge).toEqual({ provider: 'turnstile', siteKey: '0x4site' })
  expect(secrets.sites.get('default')?.challengeSecret).toBe('0x4secret')
  expect(inspect(config, { depth: null })).not.toContain('0x4secret')
})

test.each([
  ['CHALLENGE_SECRET_KEY', 'CHALLENGE_SITE_KEY'],
  ['CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY'],
])('the problem names %s when only %s is set', (absent, present) => {
  expect(refusalOf({ [present]: 'x' }).problems).toEqual([
    expect.objectContaining({
      setting: absent,
      problem: `is missing, and ${present} is set.`,
      given: 'nothing',
    }),
  ])
})

test('every CHALLENGE_ setting is read', () => {
  const { config } = load({
    ...both,
    CHALLENGE_PROVIDER: 'hCaptcha',
    CHALLENGE_VERIFY_URL: 'http://127.0.0.1:8080/siteverify',
    CHALLENGE_SCRIPT_URL: 'https://challenge.example.com/api.js',
    CHALLENGE_HOSTNAMES: ' Example.com, www.example.com,localhost, 127.0.0.1 ,bücher.example,',
  })
  expect(config.sites[0].challenge).toEqual({
    provider: 'hcaptcha',
    siteKey: '0x4site',
    verifyUrl: 'http://127.0.0.1:8080/siteverify',
    scriptUrl: 'https://challenge.example.com/api.js',
    hostnames: [
      'example.com',
      'www.example.com',
      'localhost',
      '127.0.0.1',
      'xn--bcher-kva.example',
    ],
  })
})

test.each([
  ['CHALLENGE_VERIFY_URL', 'challenge.example.com'],
  ['CHALLENGE_HOSTNAMES', 'example.com:443'],
  ['CHALLENGE_HOSTNAMES', '*.example.com'],
  ['CHALLENGE_SITE_KEY', 'two words'],
  ['CHALLENGE_SECRET_KEY', 'two words'],
  ['CHALLENGE_SITE_KEY', '1x0000000000000000000000000000000AA'],
  ['CHALLENGE_SITE_KEY', 'ES_0123456789abcdef0123456789abcdef'],
])('%s refuses %s and says what to do', (setting, value) => {
  const [problem, ...others] = refusalOf({ ...both, [setting]: value }).problems
  expect(others).toEqual([])
  expect(problem).toMatchObject({ setting, hint: expect.stringMatching(/\w{3}/) })
  expect(JSON.stringify(problem)).not.toContain('ES_0123')
})

test.each([
  ['1x00000000000000000000AA', 'turnstile'],
  ['10000000-ffff-ffff-ffff-000000000001', 'hcaptcha'],
  ['6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI', 'recaptcha'],
])('the test site key %s is recognised for its provider', (siteKey, provider) => {
  const { config } = load({ ...both, CHALLENGE_SITE_KEY: siteKey, CHALLENGE_PROVIDER: provider })
  expect(config.sites[0].challenge).toMatchObject({ provider, siteKey })
})

test.each([
  ['turnstile', 'CHALLENGE_SITE_KEY', '10000000-ffff-ffff-ffff-000000000001', 'hcaptcha'],
  ['hcaptcha', 'CHALLENGE_SECRET_KEY', '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe', 'recaptcha'],
  ['recaptcha', 'CHALLENGE_SECRET_KEY', '2x0000000000000000000000000000000AA', 'turnstile'],
])('with %s, %s refuses a test key of another provider: %s', (provider, name, key, owner) => {
  expect(refusalOf({ ...both, CHALLENGE_PROVIDER: provider, [name]: key }).problems).toMatchObject([
    {
      setting: name,
      problem: `is a test key of ${owner}, and the challenge is of ${provider}.`,
      hint: expect.stringContaining(`CHALLENGE_PROVIDER=${owner}`),
    },
  ])
})

test('altcha turns the challenge on alone, without keys', () => {
  const { config, secrets } = load({ CHALLENGE_PROVIDER: 'ALTCHA', CHALLENGE_SITE_KEY: '' })
  expect(config.sites[0].challenge).toEqual({ provider: 'altcha' })
  expect(secrets.sites.get('default')).toEqual({})
})

test('altcha is refused together with what only the challenge of a provider has, all at once', () => {
  const needless = {
    ...both,
    CHALLENGE_VERIFY_URL: 'https://challenge.example/verify',
    CHALLENGE_SCRIPT_URL: 'https://challenge.example/api.js',
    CHALLENGE_HOSTNAMES: 'example.com',
  }
  const { problems } = refusalOf({ ...needless, CHALLENGE_PROVIDER: 'altcha' })
  expect(problems.map(({ setting }) => setting)).toEqual(Object.keys(needless))
  for (const { problem, hint } of problems) {
    expect(problem).toBe('is set, and the challenge is altcha, which has no use for it.')
    expect(hint).toBe('Remove it; or set CHALLENGE_PROVIDER to the provider that it belongs to.')
  }
  expect(inspect(problems)).not.toContain('0x4secret')
})
