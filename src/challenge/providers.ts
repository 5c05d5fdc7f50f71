import type { ChallengeWidget } from './challenge.ts'

/** The providers that are somebody else's. */
export type ProviderName = Exclude<ChallengeWidget['provider'], 'altcha'>

/** The differences between the providers. All three use the siteverify protocol. */
interface Provider {
  /** The name to show to people. */
  readonly title: string
  readonly verifyUrl: string
  /** The widget's script. */
  readonly scriptUrl: string
  /** The origins of the script and of everything that it loads. */
  readonly origins: readonly string[]
  /** Whether repeating a call with the same `idempotency_key` gives the same answer. */
  readonly isRepeatable: boolean
  /** Whether siteverify accepts the expected site key as a field. */
  readonly takesSiteKey: boolean
  /** The form of its keys, site keys and secret keys. */
  readonly keys: RegExp
  /** Its published test keys, of both kinds: with them everybody passes, or nobody. */
  readonly testKeys: RegExp
}

export const providers: Readonly<Record<ProviderName, Provider>> = {
  turnstile: {
    title: 'Turnstile',
    verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    scriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    origins: ['https://challenges.cloudflare.com'],
    isRepeatable: true,
    takesSiteKey: false,
    keys: /^0x4AAAA[\w-]+$/,
    testKeys: /^[123]x(0{20}[A-F]{2}|0{31}AA)$/,
  },
  hcaptcha: {
    title: 'hCaptcha',
    verifyUrl: 'https://api.hcaptcha.com/siteverify',
    scriptUrl: 'https://js.hcaptcha.com/1/api.js',
    origins: ['https://hcaptcha.com', 'https://*.hcaptcha.com'],
    isRepeatable: false,
    takesSiteKey: true,
    keys: /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|ES_\w+|0x[0-9a-f]{40})$/,
    testKeys: /^(0x0{40}|[123]0000000-ffff-ffff-ffff-00000000000[123])$/i,
  },
  recaptcha: {
    title: 'reCAPTCHA',
    verifyUrl: 'https://www.google.com/recaptcha/api/siteverify',
    scriptUrl: 'https://www.google.com/recaptcha/api.js',
    origins: ['https://www.google.com', 'https://www.gstatic.com'],
    isRepeatable: false,
    takesSiteKey: false,
    keys: /^6L[\w-]{38}$/,
    testKeys: /^6LeIxAcTAAAAA(JcZVRqyHh71UMIEGNQ_MXjiZKhI|GG-vFI1TnRWxMZNFuojJ4WifJWe)$/,
  },
}

export const providerNames = Object.keys(providers) as readonly ProviderName[]

/** The provider whose keys, or whose test keys, look like this one. */
export function ownerOf(key: string, kind: 'keys' | 'testKeys'): ProviderName | undefined {
  return providerNames.find((name) => providers[name][kind].test(key))
}

/** The widget for the settings. The origin of a custom script address is allowed, too. `siteQuery` leads to the site. */
export function widgetOf(options: WidgetOptions, siteQuery = ''): ChallengeWidget {
  if (options.provider === 'altcha') {
    const challengeUrl = `/api/challenge${siteQuery}`
    // The site key says no more than that the challenge is on: clients take null for broken.
    const common = { provider: 'altcha', siteKey: 'altcha', scriptUrl: '/embed/puzzle.js' } as const
    return { ...common, challengeUrl, origins: [] }
  }
  const { provider, siteKey, scriptUrl } = options
  const own = providers[provider]
  const origins =
    scriptUrl === undefined ? own.origins : [new URL(scriptUrl).origin, ...own.origins]
  return {
    provider,
    siteKey,
    scriptUrl: scriptUrl ?? own.scriptUrl,
    origins: siteKey === null ? [] : origins,
  }
}

type WidgetOptions =
  | { readonly provider: 'altcha' }
  | {
      readonly provider: ProviderName
      readonly siteKey: string | null
      /** Replaces the provider's own address. */
      readonly scriptUrl?: string | undefined
    }

/** Whether the secret is a test secret, which gives no protection. */
export function isTestSecret(provider: ProviderName, secret: string): boolean {
  return providers[provider].testKeys.test(secret)
}
