import { z } from 'zod'
import { webHost } from '../platform/web-host.ts'
import { tabKey } from '../signup/signup.ts'
import { type Kind, listOf } from './kinds.ts'
import type { ParsedSetting } from './refusal.ts'
import { bearerToken, tabName } from './values.ts'

/** Names of tabs. Of two names for the same tab the first is kept. */
export const tabList = listOf(
  tabName,
  'names of tabs with commas between them, such as Newsletter,Waitlist',
  tabKey,
)

export const apiKeys = listOf(bearerToken, 'keys with commas between them')

/** The hosts of pages, as browsers write them. */
export const challengeHosts = listOf((text): ParsedSetting<string> => {
  const value = /[:*%]/.test(text) ? undefined : webHost(text)
  if (value !== undefined) return { value }
  const hint = 'Leave out https://, ports, paths and wildcards; list each subdomain.'
  return { problem: 'is not a host name.', expected: 'a host name', hint }
}, 'host names with commas between them, such as example.com,www.example.com')

/** Domains of addresses, as signups store them. */
export const emailDomains = listOf((text): ParsedSetting<string> => {
  const value = /[:*%]/.test(text) ? undefined : webHost(text)
  if (value?.includes('.')) return { value }
  const hint = 'Write what stands behind the @. Its subdomains count as well.'
  return { problem: 'is not a domain.', expected: 'a domain', hint }
}, 'domains with commas between them, such as spam.example,throw-away.example')

/** Hosts with or without ports, as browsers write them. */
export const ownHosts = listOf((text): ParsedSetting<string> => {
  const value = text.includes('*') ? undefined : webHost(text)
  if (value !== undefined) return { value }
  const hint =
    'Leave out https://, paths and wildcards. Add the port only if the URL of the page has one.'
  return { problem: 'is not a host.', expected: 'a host', hint }
}, 'host names, such as signup.example.com,localhost:3000')

const originList = listOf((text): ParsedSetting<string> => {
  const isOrigin = /^https?:\/\/[^/?#@\\;,'"*\s]+\/?$/i.test(text)
  const url = isOrigin ? URL.parse(text) : null
  if (url) return { value: url.origin }
  const hint =
    'Write http:// or https:// and the host, and the port if it is not the usual one; list each subdomain. Only * alone allows every page.'
  return { problem: 'is not a web origin.', expected: 'a web origin', hint }
}, '* or web origins with commas between them, such as https://example.com')

/** Web origins, as browsers write them, or `*`. */
export const origins: Kind<'*' | readonly string[]> = {
  parse: (text, example) => (text === '*' ? { value: '*' } : originList.parse(text, example)),
  json: (example) => {
    const star = z.tuple([z.literal('*')]).transform(() => '*' as const)
    return z.union([star, originList.json(example)])
  },
  form: 'With commas between them.',
}
