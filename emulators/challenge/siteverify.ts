import { providerRules, type ProviderRules, type ProviderName } from './providers.ts'
import type { IssuedToken, TokenOffice } from './tokens.ts'

export interface SiteverifyCall {
  readonly provider: ProviderName
  /** The parameters, whatever the format they came in. */
  readonly fields: Readonly<Record<string, string>>
}

/** How open questions are answered. */
export interface SiteverifyOptions {
  /** Whether the secret that always passes takes any token. Documented: the dummy only. */
  readonly testSecretTakesAnyToken: boolean
  /** Whether a call under the key that redeemed the token succeeds after the token's life. */
  readonly keyOutlivesToken: boolean
}

export const defaultOptions: SiteverifyOptions = {
  testSecretTakesAnyToken: false,
  keyOutlivesToken: false,
}

/** The body of an answer; its status is 200. */
export type Verdict = { readonly success: boolean } & Readonly<Record<string, unknown>>

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Answers one call and redeems its token. */
export function siteverify(
  { provider, fields }: SiteverifyCall,
  office: TokenOffice,
  now: number,
  options: SiteverifyOptions,
): Verdict {
  const rules = providerRules[provider]
  const { secret = '', response = '', sitekey, idempotency_key: key } = fields
  if (secret === '') return refusal(rules, 'missing-input-secret')
  if (response === '') return refusal(rules, 'missing-input-response')
  const test = testVerdict(rules, secret, response, now, options)
  if (test) return test
  const site = office.siteOf(provider, { secret })
  if (!site) return refusal(rules, 'invalid-input-secret')
  if (rules.hasIdempotencyKey && key !== undefined && !uuid.test(key)) {
    return refusal(rules, 'bad-request')
  }
  const issued = office.find(provider, response)
  if (!issued) return refusal(rules, 'invalid-input-response')
  if (issued.site.siteKey !== site.siteKey) return refusal(rules, rules.codes.otherSite)
  if (provider === 'hcaptcha' && sitekey !== undefined && sitekey !== site.siteKey) {
    return refusal(rules, rules.codes.otherSite)
  }
  const isRepeat = rules.hasIdempotencyKey && key !== undefined && issued.redeemed?.key === key
  if (now >= issued.expiresAt && !(isRepeat && options.keyOutlivesToken)) {
    return refusal(rules, rules.codes.expired)
  }
  if (issued.redeemed && !isRepeat) return refusal(rules, rules.codes.spent)
  issued.redeemed ??= { key }
  return success(issued)
}

function testVerdict(
  rules: ProviderRules,
  secret: string,
  response: string,
  now: number,
  options: SiteverifyOptions,
): Verdict | undefined {
  const test = rules.testSecrets.find((one) => one.secret === secret)
  if (!test) return undefined
  if (test.answer !== 'pass') return refusal(rules, test.answer)
  const takesAny = test.takesAnyToken ?? options.testSecretTakesAnyToken
  if (response !== rules.dummyToken && !takesAny) return refusal(rules, rules.codes.notDummy)
  const common = {
    success: true,
    challenge_ts: new Date(now).toISOString(),
    hostname: rules.testHostname,
  }
  if (rules.name !== 'turnstile') return common
  const metadata = { result_with_testing_key: true }
  return { ...common, 'error-codes': [], action: '', cdata: '', metadata }
}

function success({ site, issuedAt, hostname, action, cdata, interactive }: IssuedToken): Verdict {
  const common = { success: true, challenge_ts: new Date(issuedAt).toISOString(), hostname }
  switch (site.provider) {
    case 'turnstile':
      return { ...common, 'error-codes': [], action, cdata, metadata: { interactive } }
    case 'hcaptcha':
      return { ...common, credit: false }
    case 'recaptcha':
      return common
  }
}

export function refusal({ name }: ProviderRules, code: string): Verdict {
  const answer = { success: false, 'error-codes': [code] }
  return name === 'turnstile' ? { ...answer, messages: [] } : answer
}
