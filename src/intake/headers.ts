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

/** Adds the security headers that `headers` lacks. */
export function secure(headers: Headers): void {
  if (!headers.has('content-security-policy')) setAbsent(headers, neverRendered)
  setAbsent(headers, everywhere)
}

function setAbsent(headers: Headers, defaults: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(defaults)) {
    if (!headers.has(name)) headers.set(name, value)
  }
}

export interface PageSources {
  readonly allowedOrigins: AllowedOrigins
  /** Whether pages of the allowed origins may show it in a frame. */
  readonly framed: boolean
  /** Where the challenge's script and frame come from, when there is a challenge. */
  readonly challengeOrigins?: readonly string[]
}

/**
 * The headers of an HTML page: scripts and styles from files of our own only, nothing inline.
 * `form-action` names the origins a redirect may lead to, as browsers apply it to redirects too.
 */
export function pageHeaders({
  allowedOrigins,
  framed,
  challengeOrigins = [],
}: PageSources): Record<string, string> {
  const named = allowedOrigins === '*' ? [] : allowedOrigins
  const policy: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'script-src': ["'self'", ...challengeOrigins],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'", ...challengeOrigins],
    'frame-src': challengeOrigins.length > 0 ? challengeOrigins : ["'none'"],
    'form-action': ["'self'", ...named],
    'base-uri': ["'none'"],
    'frame-ancestors': framed ? frameAncestors(allowedOrigins) : ["'none'"],
  }
  const text = Object.entries(policy).map(([name, sources]) => `${name} ${sources.join(' ')}`)
  return {
    'content-security-policy': text.join('; '),
    ...(framed
      ? { 'cross-origin-resource-policy': 'cross-origin' }
      : { 'x-frame-options': 'DENY' }),
  }
}

/** Who may show our form in a frame: those who may send signups. */
export function frameAncestors(allowed: AllowedOrigins): readonly string[] {
  return allowed === '*' ? ['*'] : ["'self'", ...allowed]
}
