import { randomBytes, randomUUID } from 'node:crypto'
import { providerRules, type ProviderName } from './providers.ts'

/** One widget of an account: a pair of keys. */
export interface Site {
  readonly provider: ProviderName
  readonly siteKey: string
  readonly secret: string
}

export interface IssuedToken {
  readonly site: Site
  /** The host of the page with the widget. */
  readonly hostname: string
  readonly issuedAt: number
  readonly expiresAt: number
  /** Set when a call has redeemed the token, with the idempotency key of the call. */
  redeemed?: { readonly key: string | undefined }
}

/** The sites, and the tokens that their widgets have given out. */
export class TokenOffice {
  readonly #sites: Site[] = []
  readonly #tokens = new Map<string, IssuedToken>()

  /** Registers a site with new keys in the form of the provider's own. */
  createSite(provider: ProviderName = 'turnstile'): Site {
    const site = { provider, ...newKeys(provider) }
    this.#sites.push(site)
    return site
  }

  siteOf(provider: ProviderName, key: { siteKey: string } | { secret: string }): Site | undefined {
    return this.#sites.find((site) => {
      if (site.provider !== provider) return false
      return 'secret' in key ? site.secret === key.secret : site.siteKey === key.siteKey
    })
  }

  issue(
    site: Site,
    now: number,
    {
      hostname = 'localhost',
      lifeMs = providerRules[site.provider].tokenLifeMs,
    }: { readonly hostname?: string; readonly lifeMs?: number } = {},
  ): string {
    const token = newToken(site.provider)
    this.#tokens.set(token, { site, hostname, issuedAt: now, expiresAt: now + lifeMs })
    return token
  }

  find(provider: ProviderName, token: string): IssuedToken | undefined {
    const issued = this.#tokens.get(token)
    return issued?.site.provider === provider ? issued : undefined
  }
}

/** Tokens are about as long as the real ones. */
function newToken(provider: ProviderName): string {
  const start = { turnstile: '0.', hcaptcha: 'P1_', recaptcha: '03AFcWeA' }[provider]
  return start + randomBytes(450).toString('base64url')
}

function newKeys(provider: ProviderName): { siteKey: string; secret: string } {
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
