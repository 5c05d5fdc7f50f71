import { hasUnprintable } from '../signup/text.ts'
import { line } from './kinds.ts'
import type { ParsedSetting } from './refusal.ts'
import { webUrl } from './values.ts'

const consentCharactersMax = 1_000

/** Parses a colour and returns it as `#rrggbb`. */
export function color(text: string): ParsedSetting<string> {
  const [, short, long] = /^#?(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i.exec(text) ?? []
  const digits = short?.replace(/./g, '$&$&') ?? long
  if (digits !== undefined) return { value: `#${digits.toLowerCase()}` }
  return {
    problem: 'is not a colour.',
    expected: 'a colour as #rgb or #rrggbb, such as #0a7a4b',
    hint: 'Copy its hexadecimal code.',
  }
}

/** Parses the URL of a picture. A URL with a user name is refused, because browsers do not load it. */
export function logoUrl(text: string): ParsedSetting<string> {
  const url = webUrl(text)
  // The host becomes part of the Content-Security-Policy, so it must not have its punctuation.
  const isPlain = url && /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/.test(url.hostname)
  const isLocal = url && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (isPlain && (url.protocol === 'https:' || (isLocal && url.protocol === 'http:'))) {
    return { value: url.href }
  }
  return {
    problem: 'is not the URL of a picture that pages can load.',
    expected: 'a URL that begins with https:// (http:// for localhost only)',
    hint: 'Put the picture on a web server with https and copy its address.',
  }
}

const addressCharactersMax = 2_000

export function webAddress(text: string): ParsedSetting<string> {
  // A browser drops a line break.
  const url =
    text.length <= addressCharactersMax && !hasUnprintable(text) ? webUrl(text) : undefined
  if (url) return { value: url.href }
  return {
    problem: 'is not the address of a web page.',
    expected: `an address with https:// or http:// in front, up to ${addressCharactersMax.toLocaleString('en-US')} characters`,
    hint: 'Copy it from the address bar of a browser.',
  }
}

/** Parses text in which `[words](https://…)` is a link. There is no other markup. */
export function consent(text: string): ParsedSetting<string> {
  const plain = line(consentCharactersMax).parse(text, '')
  if (!('value' in plain)) return plain
  const link = /\[([^[\]]+)\]\(([^()]*)\)/g
  const isBroken = [...text.matchAll(link)].some(([, , it = '']) => 'problem' in webAddress(it))
  if (isBroken) return notALink
  const whole = (_: string, words: string, address: string) =>
    `[${words}](${new URL(address).href})`
  return { value: text.replace(link, whole) }
}

const notALink = {
  problem: 'has a link without an address.',
  expected: 'text in which a link is written as [privacy policy](https://example.com/privacy)',
  hint: 'Write the address in full, with https:// in front and without spaces.',
}
