import { webHost } from '../platform/web-host.ts'
import { tabKey } from '../signup/signup.ts'
import { type Kind, listOf, text } from './kind.ts'
import { bearerToken } from './secret-values.ts'
import { tabName } from './values.ts'

/** Names of tabs. Of two names for the same tab the first is kept. */
export const tabList = listOf(tabName, undefined, tabKey)

export const apiKeys = listOf(bearerToken)

/** Hosts, as browsers write them. */
const hostsOf = (form: string, hint: string, other: RegExp) =>
  listOf(text(form, (it) => (other.test(it) ? undefined : webHost(it)), hint))

export const challengeHosts = hostsOf(
  'a host name',
  'Leave out https://, ports, paths and wildcards; list each subdomain.',
  /[:*%]/,
)

/** Domains of addresses, as signups store them. */
export const emailDomains = hostsOf(
  'a domain',
  'Write what stands behind the @. Its subdomains count as well.',
  /[:*%]|^[^.]*$/,
)

export const ownHosts = hostsOf(
  'a host: signup.example.com or localhost:3000, say',
  'Leave out https://, paths and wildcards. Add the port only if the URL of the page has one.',
  /\*/,
)

const originList = listOf(
  text(
    'a web origin: https://example.com, say',
    (it) => {
      const isOrigin = /^https?:\/\/[^/?#@\\;,'"*\s]+\/?$/i.test(it)
      return isOrigin ? URL.parse(it)?.origin : undefined
    },
    'Write http:// or https:// and the host, and the port if it is not the usual one; list each subdomain. Only * alone allows every page.',
  ),
)

/** Web origins, as browsers write them, or `*`. */
export const origins: Kind<'*' | readonly string[]> = {
  ...originList,
  schema: {
    anyOf: [{ type: 'array', items: { const: '*' }, minItems: 1, maxItems: 1 }, originList.schema],
  },
  parse: (given, note) =>
    Array.isArray(given) && given.length === 1 && given[0] === '*'
      ? '*'
      : originList.parse(given, note),
}
