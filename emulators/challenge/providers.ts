export const providerNames = ['turnstile', 'hcaptcha', 'recaptcha'] as const
export type ProviderName = (typeof providerNames)[number]

/** The properties in which the providers differ. */
export interface ProviderRules {
  readonly name: ProviderName
  readonly verifyPath: string
  readonly scriptPath: string
  readonly tokenLifeMs: number
  readonly dummyToken: string
  /** The published secret for tests. It takes only the dummy token, or any token. */
  readonly testSecret: string
  readonly testSecretTakesAnyToken: boolean
  /** The host name in the answer to the secret for tests. */
  readonly testHostname: string
  /** The error codes for invalid tokens. `notDummy` is for the secret for tests. */
  readonly codes: {
    readonly expired: string
    readonly spent: string
    readonly otherSite: string
    readonly notDummy: string
  }
  readonly hasIdempotencyKey: boolean
}

const minute = 60_000

export const providerRules: Readonly<Record<ProviderName, ProviderRules>> = {
  turnstile: {
    name: 'turnstile',
    verifyPath: '/turnstile/v0/siteverify',
    scriptPath: '/turnstile/v0/api.js',
    tokenLifeMs: 5 * minute,
    dummyToken: 'XXXX.DUMMY.TOKEN.XXXX',
    testSecret: '1x0000000000000000000000000000000AA',
    testSecretTakesAnyToken: false,
    testHostname: 'example.com',
    codes: {
      expired: 'timeout-or-duplicate',
      spent: 'timeout-or-duplicate',
      otherSite: 'invalid-input-response',
      notDummy: 'invalid-input-secret',
    },
    hasIdempotencyKey: true,
  },
  hcaptcha: {
    name: 'hcaptcha',
    verifyPath: '/siteverify',
    scriptPath: '/1/api.js',
    tokenLifeMs: 2 * minute,
    dummyToken: '10000000-aaaa-bbbb-cccc-000000000001',
    testSecret: '0x0000000000000000000000000000000000000000',
    testSecretTakesAnyToken: false,
    testHostname: 'dummy-key-pass',
    codes: {
      expired: 'expired-input-response',
      spent: 'already-seen-response',
      otherSite: 'sitekey-secret-mismatch',
      notDummy: 'not-using-dummy-passcode',
    },
    hasIdempotencyKey: false,
  },
  recaptcha: {
    name: 'recaptcha',
    verifyPath: '/recaptcha/api/siteverify',
    scriptPath: '/recaptcha/api.js',
    tokenLifeMs: 2 * minute,
    dummyToken: 'recaptcha-token-of-the-test-keys',
    testSecret: '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe',
    testSecretTakesAnyToken: true,
    testHostname: 'testkey.google.com',
    codes: {
      expired: 'timeout-or-duplicate',
      spent: 'timeout-or-duplicate',
      otherSite: 'invalid-input-response',
      notDummy: 'invalid-input-secret',
    },
    hasIdempotencyKey: false,
  },
}
