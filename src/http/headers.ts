import type { AllowedOrigins } from './origin.ts'

/**
 * The security headers of every answer, unless its route sets its own value. HSTS is left to the
 * proxy that ends TLS, because HSTS is a promise for a whole host name.
 */
const everywhere: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  // Not `no-referrer`: with it, browsers send `Origin: null` when our own form is posted.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=()',
  'cache-control': 'no-store',
}

/** For answers that no browser should render. An answer that may be rendered has its own policy. */
const neverRendered: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
}

/** The security headers of plain data that no browser should render: names and values in turn. */
export const securityHeaders = securityWith({})

/** The security headers of every answer, with some values replaced or added. */
export function securityWith(own: Readonly<Record<string, string>>): readonly string[] {
  const isRendered = own['content-security-policy'] !== undefined
  return Object.entries({ ...everywhere, ...(isRendered ? {} : neverRendered), ...own }).flat()
}

export interface PageSources {
  readonly allowedOrigins: AllowedOrigins
  /** Whether pages of the allowed origins may show the page in a frame. */
  readonly framed: boolean
  /** The origins of the challenge's script, frame and styles; empty while the challenge is off. */
  readonly widget: { readonly origins: readonly string[] }
  readonly pages: { readonly logoUrl?: string | undefined }
}

/**
 * The security headers of an HTML page. They allow no inline code, and only our own files, the
 * challenge and the logo. Browsers apply `form-action` to redirects too, so it names their origins.
 */
export function pageSecurity(sources: PageSources): readonly string[] {
  const { allowedOrigins, framed } = sources
  const { origins } = sources.widget
  const { logoUrl } = sources.pages
  const named = allowedOrigins === '*' ? [] : allowedOrigins
  // The pages that may show our form in a frame are the same that may send signups.
  const framing = allowedOrigins === '*' ? ['*'] : ["'self'", ...named]
  const policy: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'script-src': ["'self'", ...origins],
    'style-src': ["'self'", ...origins],
    'img-src': ["'self'", 'data:', ...(logoUrl === undefined ? [] : [new URL(logoUrl).origin])],
    'connect-src': ["'self'", ...origins],
    'frame-src': origins.length > 0 ? origins : ["'none'"],
    'form-action': ["'self'", ...named],
    'base-uri': ["'none'"],
    'frame-ancestors': framed ? framing : ["'none'"],
  }
  const text = Object.entries(policy).map(([name, sources]) => `${name} ${sources.join(' ')}`)
  return securityWith({
    'content-security-policy': text.join('; '),
    ...(framed
      ? { 'cross-origin-resource-policy': 'cross-origin' }
      : { 'x-frame-options': 'DENY' }),
  })
}
