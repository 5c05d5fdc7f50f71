import { type Language, languages } from '../signup/languages.ts'
import { hasUnprintable } from '../signup/text.ts'
import type { ParsedSetting } from './problem.ts'
import type { SettingsReader } from './reader.ts'

/** How the pages for visitors look and what they ask for. An undefined member means the default. */
export interface PagesConfig {
  readonly title: string | undefined
  /** A line under the title. */
  readonly text: string | undefined
  readonly button: string | undefined
  /** `#rrggbb`, in lower case. */
  readonly accent: string | undefined
  readonly logoUrl: string | undefined
  /** A text below the thanks, and the address of the page to go to from there. */
  readonly thanks: string | undefined
  readonly next: string | undefined
  /** The language for visitors whose browser asks for none of our languages. */
  readonly language: Language | undefined
  /** The text that a visitor must agree to. */
  readonly consent: readonly ConsentPart[] | undefined
  /** Whether visitors are asked for a name. */
  readonly name: 'off' | 'optional' | 'required'
}

/** A piece of the text. It is a link when it has a `url`. */
export interface ConsentPart {
  readonly text: string
  readonly url?: string
}

const consentCharactersMax = 1_000

/** How the texts of the settings are read. */
export const pageParsers = {
  title: lineOf(100),
  text: lineOf(300),
  button: lineOf(60),
  accent: color,
  logoUrl,
  thanks: lineOf(300),
  next: webAddress,
  consent,
} as const

export function readPages(reader: SettingsReader): PagesConfig {
  return {
    title: reader.optional('PAGE_TITLE', pageParsers.title),
    text: reader.optional('PAGE_TEXT', pageParsers.text),
    button: reader.optional('PAGE_BUTTON', pageParsers.button),
    accent: reader.optional('PAGE_ACCENT', pageParsers.accent),
    logoUrl: reader.optional('PAGE_LOGO_URL', pageParsers.logoUrl),
    thanks: reader.optional('PAGE_THANKS', pageParsers.thanks),
    next: reader.optional('PAGE_NEXT_URL', pageParsers.next),
    language: reader.optional('PAGE_LANGUAGE', language),
    consent: reader.optional('PAGE_CONSENT', pageParsers.consent),
    name: reader.withDefault('PAGE_NAME', nameField),
  }
}

/** Makes a parser for text in one line. */
function lineOf(charactersMax: number): (text: string) => ParsedSetting<string> {
  return (text) => {
    const isLine = !hasUnprintable(text)
    if (isLine && text.length <= charactersMax) return { value: text }
    return {
      problem: isLine ? 'is too long.' : 'has line breaks or other control characters in it.',
      expected: `up to ${charactersMax} characters in one line`,
      hint: 'Write plain text. The page shows HTML tags as they are typed.',
    }
  }
}

/** Parses a colour and returns it as `#rrggbb`. */
export function color(text: string): ParsedSetting<string> {
  const [, short, long] = /^#?(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i.exec(text) ?? []
  const digits = short?.replace(/./g, '$&$&') ?? long
  if (digits !== undefined) return { value: `#${digits.toLowerCase()}` }
  return {
    problem: 'is not a colour.',
    expected: 'a colour as #rgb or #rrggbb, such as #0a7a4b',
    hint: 'Copy its hexadecimal code. In .env, put it between quotes, because # begins a comment there.',
  }
}

/** Parses the URL of a picture. A URL with a user name is refused, because browsers do not load it. */
export function logoUrl(text: string): ParsedSetting<string> {
  const url = URL.parse(text)
  // The host becomes part of the Content-Security-Policy, so it must not have its punctuation.
  const isPlain = url && /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/.test(url.hostname) && url.username === ''
  const isLocal = url && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (isPlain && (url.protocol === 'https:' || (isLocal && url.protocol === 'http:'))) {
    return { value: url.href }
  }
  return {
    problem:
      isPlain && url.protocol === 'http:' ? 'is not encrypted.' : 'is not a URL of a picture.',
    expected: 'a URL that begins with https:// (http:// for localhost only)',
    hint: 'Put the picture on a web server with https and copy its address.',
  }
}

const addressCharactersMax = 2_000

/** Parses the address of a page that a link may lead to. */
export function webAddress(text: string): ParsedSetting<string> {
  const url = text.length <= addressCharactersMax ? URL.parse(text) : null
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  // A browser reads `https:/page` as a path of this host, and drops a line break.
  if (
    isWeb &&
    url.username + url.password === '' &&
    /^https?:\/\//i.test(text) &&
    !hasUnprintable(text)
  ) {
    return { value: url.href }
  }
  return {
    problem: 'is not the address of a web page.',
    expected: `an address with https:// or http:// in front, up to ${addressCharactersMax.toLocaleString('en-US')} characters`,
    hint: 'Copy it from the address bar of a browser.',
  }
}

function language(text: string): ParsedSetting<Language> {
  const value = languages.find((known) => known === text.toLowerCase())
  if (value) return { value }
  return {
    problem: 'is not a language of the pages.',
    expected: `one of ${languages.join(', ')}`,
    hint: 'Leave out the country: write de for de-AT. Visitors whose browser asks for one of these languages get that one.',
  }
}

/** Parses text in which `[words](https://…)` is a link. There is no other markup. */
export function consent(text: string): ParsedSetting<readonly ConsentPart[]> {
  const line = lineOf(consentCharactersMax)(text)
  if (!('value' in line)) return line
  const parts: ConsentPart[] = []
  let rest = 0
  for (const { 0: link, 1: words = '', 2: address = '', index } of text.matchAll(
    /\[([^[\]]+)\]\(([^()]*)\)/g,
  )) {
    const url = URL.parse(address)
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return notALink
    if (index > rest) parts.push({ text: text.slice(rest, index) })
    parts.push({ text: words, url: url.href })
    rest = index + link.length
  }
  if (rest < text.length) parts.push({ text: text.slice(rest) })
  return { value: parts }
}

const notALink = {
  problem: 'has a link without an address.',
  expected: 'text in which a link is written as [privacy policy](https://example.com/privacy)',
  hint: 'Write the address in full, with https:// in front and without spaces.',
}

function nameField(text: string): ParsedSetting<PagesConfig['name']> {
  const value = (['off', 'optional', 'required'] as const).find((it) => it === text.toLowerCase())
  if (value) return { value }
  return {
    problem: 'is not off, optional or required.',
    expected: 'off, optional or required',
    hint: 'Use off to ask for no name, optional if visitors may leave it out, and required if they must give it.',
  }
}
