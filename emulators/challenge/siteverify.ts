import { providerRules, type ProviderRules, type ProviderName } from './providers.ts'
import type { IssuedToken, TokenOffice } from './tokens.ts'

export interface SiteverifyCall {
  readonly provider: ProviderName
  readonly fields: Readonly<Record<string, string>>
}

/** The body of an answer with status 200. */
export type Verdict = { readonly success: boolean } & Readonly<Record<string, unknown>>

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Answers one call and redeems its token. */
export function siteverify(
  { provider, fields }: SiteverifyCall,
  office: TokenOffice,
  now: number,
): Verdict {
  const rules = providerRules[provider]
  const { secret = '', response = '', sitekey, idempotency_key: key } = fields
  if (secret === '') return refusal(rules, 'missing-input-secret')
  if (response === '') return refusal(rules, 'missing-input-response')
  if (secret === rules.testSecret) return testVerdict(rules, response, now)
  const site = office.siteOf(provider, { secret })
  if (!site) return refusal(rules, 'invalid-input-secret')
  if (rules.hasIdempotencyKey && key !== undefined && !uuid.test(key)) {
    return refusal(rules, 'bad-request')
  }
  const issued = office.find(provider, response)
  if (!issued) return refusal(rules, 'invalid-input-response')
  if (issued.site.siteKey !== site.siteKey || (sitekey ?? site.siteKey) !== site.siteKey) {
    return refusal(rules, rules.codes.otherSite)
  }
  if (now >= issued.expiresAt) return refusal(rules, rules.codes.expired)
  const isRepeat = rules.hasIdempotencyKey && key !== undefined && issued.redeemed?.key === key
  if (issued.redeemed && !isRepeat) return refusal(rules, rules.codes.spent)
  issued.redeemed ??= { key }
  return success(issued)
}

function testVerdict(rules: ProviderRules, response: string, now: number): Verdict {
  if (response !== rules.dummyToken && !rules.testSecretTakesAnyToken) {
    return refusal(rules, rules.codes.notDummy)
  }
  const common = {
    success: true,
    challenge_ts: new Date(now).toISOString(),
    hostname: rules.testHostname,
  }
  if (rules.name !== 'turnstile') return common
  const metadata = { result_with_testing_key: true }
  return { ...common, 'error-codes': [], action: '', cdata: '', metadata }
}

function success({ site, issuedAt, hostname }: IssuedToken): Verdict {
  const common = { success: true, challenge_ts: new Date(issuedAt).toISOString(), hostname }
  switch (site.provider) {
    case 'turnstile':
      return { ...common, 'error-codes': [], action: '', cdata: '' }
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
