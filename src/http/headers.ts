import type { AllowedOrigins } from './origin.ts'

/**
 * What every answer carries, unless its route brings its own value. HSTS is left to the proxy that
 * ends TLS: it is a promise about a whole host name, and this service does not own one.
 */
const everywhere: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  // Not `no-referrer`: with it, browsers send `Origin: null` when our own form is posted.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=()',
  'cache-control': 'no-store',
}

/** For an answer that no browser should render; one that may be rendered brings a policy of its own. */
const neverRendered: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
}

/** For an answer of plain data that no browser should render; names and values in turn. */
export const securityHeaders = listOf({ ...everywhere, ...neverRendered })

/** For an answer that a browser may use in another way: with its own values in place of ours. */
export function securityWith(own: Readonly<Record<string, string>>): readonly string[] {
  const isRendered = own['content-security-policy'] !== undefined
  return listOf({ ...everywhere, ...(isRendered ? {} : neverRendered), ...own })
}

function listOf(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat()
}

export interface PageSources {
  readonly allowedOrigins: AllowedOrigins
  /** Whether pages of the allowed origins may show it in a frame. */
  readonly framed: boolean
  /** Where the challenge's script, frame and styles come from; none while it is off. */
  readonly widget: { readonly origins: readonly string[] }
  readonly pages: { readonly logoUrl?: string | undefined }
}

/**
 * The security headers of an HTML page: nothing inline, all from files of our own, but for challenge and logo.
 * `form-action` names the origins a redirect may lead to, as browsers apply it to redirects too.
 */
export function pageSecurity({
  allowedOrigins,
  framed,
  widget: { origins },
  pages: { logoUrl },
}: PageSources): readonly string[] {
  const named = allowedOrigins === '*' ? [] : allowedOrigins
  const policy: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'script-src': ["'self'", ...origins],
    'style-src': ["'self'", ...origins],
    'img-src': ["'self'", 'data:', ...(logoUrl === undefined ? [] : [new URL(logoUrl).origin])],
    'connect-src': ["'self'", ...origins],
    'frame-src': origins.length > 0 ? origins : ["'none'"],
    'form-action': ["'self'", ...named],
    'base-uri': ["'none'"],
    'frame-ancestors': framed ? frameAncestors(allowedOrigins) : ["'none'"],
  }
  const text = Object.entries(policy).map(([name, sources]) => `${name} ${sources.join(' ')}`)
  return securityWith({
    'content-security-policy': text.join('; '),
    ...(framed
      ? { 'cross-origin-resource-policy': 'cross-origin' }
      : { 'x-frame-options': 'DENY' }),
  })
}

/** Who may show our form in a frame: those who may send signups. */
export function frameAncestors(allowed: AllowedOrigins): readonly string[] {
  return allowed === '*' ? ['*'] : ["'self'", ...allowed]
}
