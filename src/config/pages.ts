import { digits } from '../platform/digits.ts'
import { isLoopback } from '../platform/web-host.ts'
import { hasUnprintable } from '../signup/text.ts'
import { text, Wrong } from './kind.ts'
import { webUrl } from './values.ts'

/** A colour; the value is `#rrggbb`. */
export const color = text('a colour: #rgb or #rrggbb, such as #0a7a4b', (it) => {
  const [, short, long] = /^#?(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i.exec(it) ?? []
  const digits = short?.replace(/./g, '$&$&') ?? long
  return digits === undefined ? undefined : `#${digits.toLowerCase()}`
})

/** The URL of a picture. A URL with a user name is refused, because browsers do not load it. */
export const logoUrl = text(
  'the URL of a picture: with https:// (http:// for localhost only)',
  (it) => {
    const url = webUrl(it)
    // The host becomes part of the Content-Security-Policy, so it must not have its punctuation.
    const isPlain = url && /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/.test(url.hostname)
    return isPlain && (url.protocol === 'https:' || isLoopback(url.hostname)) ? url.href : undefined
  },
  'Put the picture on a web server with https and copy its address.',
)

const addressCharactersMax = 2_000

/** The whole address of a page. */
function addressOf(it: string): string | undefined {
  // A browser drops a line break.
  return it.length > addressCharactersMax || hasUnprintable(it) ? undefined : webUrl(it)?.href
}

export const webAddress = text(
  `the address of a web page: with https:// or http:// in front, up to ${digits(addressCharactersMax)} characters`,
  addressOf,
  'Copy it from the address bar of a browser.',
)

const consentCharactersMax = 1_000

/** Text in which `[words](https://…)` is a link. There is no other markup. */
export const consent = text(
  `a text of up to ${digits(consentCharactersMax)} characters in one line: its links are [words](https://…)`,
  (it) => {
    if (it.length > consentCharactersMax || hasUnprintable(it)) return undefined
    const link = /\[([^[\]]+)\]\(([^()]*)\)/g
    const links = Array.from(it.matchAll(link), ([, , address = '']) => addressOf(address))
    if (links.includes(undefined)) return new Wrong('has a link without an address.')
    return it.replace(link, (_, words: string) => `[${words}](${links.shift()})`)
  },
  'Write the address of a link in full, with https:// in front and without spaces.',
)
