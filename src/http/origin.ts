import type { HttpHeaders, HttpRequest } from '../platform/http-exchange.ts'
import { webHost } from '../platform/web-host.ts'
/**
 * The web origins whose pages may send signups: all, or exactly these, each as a browser writes it
 * (`https://example.com`, lower case, no default port, no slash at the end).
 */
export type AllowedOrigins = '*' | readonly string[]

/**
 * Whether a request with this `Origin` header is allowed. A request without the header comes from
 * no web page or from a plain navigation. `null` (a sandboxed frame, a file) is allowed by `*` only.
 *
 * @param hosts the hosts that the request was sent to; pages of these hosts are our own
 */
export function isOriginAllowed(
  origin: string | null,
  allowed: AllowedOrigins,
  hosts: readonly string[],
): boolean {
  if (origin === null || allowed === '*' || allowed.includes(origin)) return true
  return hosts.some((host) => isOwnOrigin(origin, host))
}

/**
 * Whether an origin has the same host and port as the request. The scheme is not compared: behind
 * a proxy that ends TLS the service does not know its own scheme.
 */
export function isOwnOrigin(origin: string, host: string): boolean {
  const scheme = /^https?:\/\//.exec(origin)?.[0]
  if (scheme === undefined || !/^[^/?#@\\\s]+$/.test(host)) return false
  return URL.parse(scheme + host)?.origin === origin
}

/**
 * The `Origin` header if it is a plain web origin, and so safe to log and to quote; undefined
 * otherwise, for example for `null`.
 */
export function webOrigin(origin: string): string | undefined {
  const isShort = origin.length <= originCharactersMax && /^https?:/.test(origin)
  return isShort && URL.parse(origin)?.origin === origin ? origin : undefined
}

/** A host name has at most 253 characters. */
const originCharactersMax = 270

/**
 * The hosts a request was sent to: its `Host` header, and behind a trusted proxy also
 * `X-Forwarded-Host`. With a list of our own hosts, only those that are in it.
 */
export function requestHosts(
  headers: HttpHeaders,
  isProxyTrusted: boolean,
  own?: readonly string[],
): readonly string[] {
  const names = isProxyTrusted ? ['host', 'x-forwarded-host'] : ['host']
  const hosts = names.flatMap((name) => (headers.get(name) ?? '').split(','))
  const named = hosts.map((host) => host.trim()).filter((host) => host !== '')
  return own ? named.filter((host) => own.includes(webHost(host) ?? '')) : named
}

/**
 * The origin under which the visitor sees us: the `Origin` header if it is our own, else the scheme
 * and host of the request as a trusted proxy forwards them.
 */
export function ownOrigin(
  { headers, url }: Pick<HttpRequest, 'headers' | 'url'>,
  hosts: readonly string[],
  isProxyTrusted: boolean,
): string {
  const origin = headers.get('origin')
  if (origin !== null && hosts.some((host) => isOwnOrigin(origin, host))) return origin
  const forwarded = isProxyTrusted ? headers.get('x-forwarded-proto')?.split(',').at(-1) : undefined
  const scheme = forwarded?.trim() === 'https' ? 'https' : 'http'
  return URL.parse(`${scheme}://${hosts.at(-1) ?? ''}`)?.origin ?? new URL(url).origin
}

/** The headers that scripts of other origins may read. */
const exposed =
  'Idempotency-Replayed, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, ' +
  'X-Request-Id'

/**
 * The CORS headers of an answer to an allowed origin: names and values in turn, never with
 * credentials. The edge adds `Vary: Origin`.
 */
export function corsHeaders(origin: string | null, allowed: AllowedOrigins): readonly string[] {
  if (allowed === '*') return toAnyOrigin
  return origin === null ? [] : ['access-control-allow-origin', origin, ...toRead]
}

const toRead = ['access-control-expose-headers', exposed]
const toAnyOrigin = ['access-control-allow-origin', '*', ...toRead]

/** The headers that answer a CORS preflight. Chrome caches a preflight for two hours at most. */
export function preflightHeaders(methods: readonly string[]): readonly string[] {
  return [
    ...['access-control-allow-methods', methods.join(', ')],
    ...['access-control-allow-headers', 'Authorization, Content-Type, Idempotency-Key, Prefer'],
    ...['access-control-max-age', '7200'],
  ]
}
