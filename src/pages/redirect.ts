import { limits } from '../signup/limits.ts'
import type { AllowedOrigins } from '../http/origin.ts'

export interface RedirectRules {
  /** The origin under which the visitor sees us. */
  readonly ownOrigin: string
  /** A wildcard names none. */
  readonly allowedOrigins: AllowedOrigins
}

/** What browsers drop or read as a slash: nobody writes it with good intentions. */
const trickery = /[\p{Cc}\\]/u

/**
 * The `Location` for a `redirect` as it was sent: a path on our own origin or the URL of a named
 * one, in ASCII; undefined when it must not be followed. A relative one is relative to our root.
 */
export function redirectLocation(redirect: string, rules: RedirectRules): string | undefined {
  const { ownOrigin, allowedOrigins } = rules
  if (redirect.length > limits.redirectCharactersMax || trickery.test(redirect)) return undefined
  const url = URL.parse(redirect, ownOrigin)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '') return undefined
  if (url.origin === ownOrigin) {
    // Without scheme and host: only the browser knows for sure by which it came.
    const path = url.pathname + url.search + url.hash
    return path.startsWith('//') ? undefined : path
  }
  const isNamed = allowedOrigins !== '*' && allowedOrigins.includes(url.origin)
  return isNamed ? url.href : undefined
}

const loggedCharactersMax = 100

/** What of a `redirect` may be logged: where it leads, without path, query, user or password. */
export function redirectOrigin(redirect: string, ownOrigin: string): string {
  const url = URL.parse(redirect, ownOrigin)
  if (!url) return 'not a URL'
  return (url.origin === 'null' ? url.protocol : url.origin).slice(0, loggedCharactersMax)
}
