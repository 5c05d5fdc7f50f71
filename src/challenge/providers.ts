import type { ChallengeWidget } from './challenge.ts'

export type ProviderName = ChallengeWidget['provider']

/** What differs between the providers; all three speak the same siteverify protocol. */
export interface Provider {
  readonly name: ProviderName
  /** Its name for people. */
  readonly title: string
  readonly verifyUrl: string
  /** The widget's script. */
  readonly scriptUrl: string
  /** From where the script and what it brings along come. */
  readonly origins: readonly string[]
  /** Whether a token can be verified again under one `idempotency_key`, with the same answer. */
  readonly isRepeatable: boolean
  /** Whether siteverify takes the expected site key. */
  readonly takesSiteKey: boolean
  /** Published secrets for tests: with one of them everybody passes, or nobody. */
  readonly testSecrets: readonly string[]
}

const turnstile: Provider = {
  name: 'turnstile',
  title: 'Turnstile',
  verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  scriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
  origins: ['https://challenges.cloudflare.com'],
  isRepeatable: true,
  takesSiteKey: false,
  testSecrets: [
    '1x0000000000000000000000000000000AA',
    '2x0000000000000000000000000000000AA',
    '3x0000000000000000000000000000000AA',
  ],
}

const hcaptcha: Provider = {
  name: 'hcaptcha',
  title: 'hCaptcha',
  verifyUrl: 'https://api.hcaptcha.com/siteverify',
  scriptUrl: 'https://js.hcaptcha.com/1/api.js',
  origins: ['https://hcaptcha.com', 'https://*.hcaptcha.com'],
  isRepeatable: false,
  takesSiteKey: true,
  testSecrets: ['0x0000000000000000000000000000000000000000'],
}

const recaptcha: Provider = {
  name: 'recaptcha',
  title: 'reCAPTCHA',
  verifyUrl: 'https://www.google.com/recaptcha/api/siteverify',
  scriptUrl: 'https://www.google.com/recaptcha/api.js',
  origins: ['https://www.google.com', 'https://www.gstatic.com'],
  isRepeatable: false,
  takesSiteKey: false,
  testSecrets: ['6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe'],
}

export const providers: Readonly<Record<ProviderName, Provider>> = {
  turnstile,
  hcaptcha,
  recaptcha,
}

/** Another address of the script is also where its frames are looked for. */
export function widgetOf({ provider, siteKey, scriptUrl }: WidgetOptions): ChallengeWidget {
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

export interface WidgetOptions {
  readonly provider: ProviderName
  /** Null: the challenge is off. */
  readonly siteKey: string | null
  /** Instead of the provider's own address. */
  readonly scriptUrl?: string | undefined
}

/** Whether the secret is one of those for tests, which give no protection. */
export function isTestSecret(provider: ProviderName, secret: string): boolean {
  return providers[provider].testSecrets.includes(secret)
}
