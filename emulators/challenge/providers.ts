export const providerNames = ['turnstile', 'hcaptcha', 'recaptcha'] as const
export type ProviderName = (typeof providerNames)[number]

/** A site key for tests, and what its widget does. */
interface TestSite {
  readonly siteKey: string
  readonly outcome: 'pass' | 'error' | 'interactive'
}

/** A secret for tests, and what siteverify answers to it. */
interface TestSecret {
  readonly secret: string
  /** `pass`: when the token is the dummy, or any with `takesAnyToken`. Otherwise the error code. */
  readonly answer: string
  readonly takesAnyToken?: boolean
}

/** What differs between the providers. */
export interface ProviderRules {
  readonly name: ProviderName
  readonly verifyPath: string
  readonly scriptPath: string
  readonly tokenLifeMs: number
  readonly dummyToken: string
  readonly testSites: readonly TestSite[]
  readonly testSecrets: readonly TestSecret[]
  /** Host name in the answer to a token for tests. */
  readonly testHostname: string
  /** The error codes of a token that is good no more, and the one for a test secret's misuse. */
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
    testSites: [
      { siteKey: '1x00000000000000000000AA', outcome: 'pass' },
      { siteKey: '2x00000000000000000000AB', outcome: 'error' },
      { siteKey: '1x00000000000000000000BB', outcome: 'pass' },
      { siteKey: '2x00000000000000000000BB', outcome: 'error' },
      { siteKey: '3x00000000000000000000FF', outcome: 'interactive' },
    ],
    testSecrets: [
      { secret: '1x0000000000000000000000000000000AA', answer: 'pass' },
      { secret: '2x0000000000000000000000000000000AA', answer: 'invalid-input-response' },
      { secret: '3x0000000000000000000000000000000AA', answer: 'timeout-or-duplicate' },
    ],
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
    testSites: [{ siteKey: '10000000-ffff-ffff-ffff-000000000001', outcome: 'pass' }],
    testSecrets: [{ secret: '0x0000000000000000000000000000000000000000', answer: 'pass' }],
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
    testSites: [{ siteKey: '6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI', outcome: 'pass' }],
    testSecrets: [
      { secret: '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe', answer: 'pass', takesAnyToken: true },
    ],
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
