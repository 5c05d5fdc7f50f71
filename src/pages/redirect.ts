import { limits } from '../signup/limits.ts'
import type { AllowedOrigins } from '../http/origin.ts'

export interface RedirectRules {
  /** The origin under which the visitor sees us. */
  readonly ownOrigin: string
  /** Named origins may be redirected to. A wildcard names none. */
  readonly allowedOrigins: AllowedOrigins
}

/** Characters that browsers drop or read as a slash. Only attackers use them. */
const trickery = /[\p{Cc}\\]/u

/**
 * The `Location`, in ASCII, for a `redirect` as it was sent: a path on our own origin, or a URL of a
 * named origin. Undefined when the redirect must not be followed. A relative one starts at our root.
 */
export function redirectLocation(redirect: string, rules: RedirectRules): string | undefined {
  const { ownOrigin, allowedOrigins } = rules
  if (redirect.length > limits.redirectCharactersMax || trickery.test(redirect)) return undefined
  const url = URL.parse(redirect, ownOrigin)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '') return undefined
  if (url.origin === ownOrigin) {
    // Leave out scheme and host, because only the browser knows them for sure.
    const path = url.pathname + url.search + url.hash
    return path.startsWith('//') ? undefined : path
  }
  const isNamed = allowedOrigins !== '*' && allowedOrigins.includes(url.origin)
  return isNamed ? url.href : undefined
}

const loggedCharactersMax = 100

/** The part of a `redirect` that may be logged: its origin, without path, query, user or password. */
export function redirectOrigin(redirect: string, ownOrigin: string): string {
  const url = URL.parse(redirect, ownOrigin)
  if (!url) return 'not a URL'
  return (url.origin === 'null' ? url.protocol : url.origin).slice(0, loggedCharactersMax)
}
