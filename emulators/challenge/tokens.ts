import { randomBytes, randomUUID } from 'node:crypto'
import { providerRules, type ProviderName } from './providers.ts'

/** One widget of an account: a pair of keys. */
export interface Site {
  readonly provider: ProviderName
  readonly siteKey: string
  readonly secret: string
}

/** What a widget binds into a token. */
export interface TokenContent {
  readonly hostname: string
  readonly action: string
  readonly cdata: string
  /** Whether the visitor had to do something. */
  readonly interactive: boolean
}

export interface IssuedToken extends TokenContent {
  readonly token: string
  readonly site: Site
  readonly issuedAt: number
  readonly expiresAt: number
  /** Set when it was redeemed, with the idempotency key of that call. */
  redeemed?: { readonly key: string | undefined }
}

/** The sites and the tokens that their widgets gave out. */
export class TokenOffice {
  readonly #sites: Site[] = []
  readonly #tokens = new Map<string, IssuedToken>()

  /** Keys that are not given are made up, in the form of the provider's own. */
  createSite(provider: ProviderName = 'turnstile', keys: Partial<Site> = {}): Site {
    const site = { ...madeUpKeys(provider), ...keys, provider }
    const isTaken = this.#sites.some(
      ({ siteKey, secret }) => siteKey === site.siteKey || secret === site.secret,
    )
    if (isTaken) throw new Error('A site with one of these keys exists.')
    this.#sites.push(site)
    return site
  }

  get sites(): readonly Site[] {
    return this.#sites
  }

  siteOf(provider: ProviderName, key: { siteKey: string } | { secret: string }): Site | undefined {
    return this.#sites.find((site) => {
      if (site.provider !== provider) return false
      return 'secret' in key ? site.secret === key.secret : site.siteKey === key.siteKey
    })
  }

  issue(site: Site, content: Partial<TokenContent>, now: number, lifeMs?: number): IssuedToken {
    const issued: IssuedToken = {
      hostname: content.hostname ?? 'localhost',
      action: content.action ?? '',
      cdata: content.cdata ?? '',
      interactive: content.interactive ?? false,
      token: madeUpToken(site.provider),
      site,
      issuedAt: now,
      expiresAt: now + (lifeMs ?? providerRules[site.provider].tokenLifeMs),
    }
    this.#tokens.set(issued.token, issued)
    return issued
  }

  find(provider: ProviderName, token: string): IssuedToken | undefined {
    const issued = this.#tokens.get(token)
    return issued?.site.provider === provider ? issued : undefined
  }
}

/** About as long as the real ones. */
function madeUpToken(provider: ProviderName): string {
  const start = { turnstile: '0.', hcaptcha: 'P1_', recaptcha: '03AFcWeA' }[provider]
  return start + randomBytes(450).toString('base64url')
}

function madeUpKeys(provider: ProviderName): { siteKey: string; secret: string } {
  const text = (bytes: number) => randomBytes(bytes).toString('hex')
  switch (provider) {
    case 'turnstile':
      return { siteKey: `0x4AAAAAAA${text(6)}`, secret: `0x4AAAAAAA${text(12)}` }
    case 'hcaptcha':
      return { siteKey: randomUUID(), secret: `ES_${text(16)}` }
    case 'recaptcha':
      return { siteKey: `6Ld${text(18)}`, secret: `6Ls${text(18)}` }
  }
}
