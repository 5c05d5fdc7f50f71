import { emailProblem, storedEmail } from '../signup/email.ts'
import { hasUnprintable } from '../signup/text.ts'
import { text, Wrong } from './kind.ts'

/** The URL of a mail server. The user and the password in it are percent-encoded. */
export const mailUrl = text(
  'the URL of a mail server: smtps://USER:PASSWORD@HOST or smtp://USER:PASSWORD@HOST:587, without path and query',
  (it) => {
    if (!/^smtps?:\/\//i.test(it)) return undefined
    const url = urlWithLogin(it)
    if (url instanceof Wrong) return url
    const isHost = /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])$/i.test(url.hostname) && url.port !== '0'
    const isPair = (url.username === '') === (url.password === '')
    return isHost && isPair && partsBehind(url).length <= 1 ? url.href : undefined
  },
  'Begin it with smtps:// for port 465, or with smtp:// for STARTTLS on port 587; then the host, before it both of USER:PASSWORD@ or neither, and no path behind it.',
)

export const urlCodes =
  'In the user name and the password write % as %25, @ as %40, : as %3A, / as %2F, ? as %3F and # as %23.'

const uncoded = new Wrong('has a character that must be written as a code, or is no URL.', urlCodes)

/** A URL that may have a user and a password, each percent-encoded. */
export function urlWithLogin(it: string): URL | Wrong {
  const url = URL.parse(it)
  // What is behind an unwritten / ? or # of a password ends with the @ before the host.
  if (!url || partsBehind(url).includes('@') || /[\s\p{Cc}]/u.test(it)) return uncoded
  try {
    const login = decodeURIComponent(`${url.username} ${url.password}`)
    decodeURIComponent(url.hostname + partsBehind(url))
    return hasUnprintable(login) ? uncoded : url
  } catch {
    return uncoded
  }
}

/** What is behind the host. */
function partsBehind({ pathname, search, hash }: URL): string {
  return pathname + search + hash
}

const nameCharactersMax = 100

/** A sender: an address, or a name and the address in angle brackets. */
export const mailFrom = text(
  'the sender of a mail: name@host, or Name <name@host>, in one line and without quotes in the name',
  (it) => {
    const isShort = it.length <= nameCharactersMax + 300 && !hasUnprintable(it)
    const [, name = '', inBrackets] = (isShort ? /^([^<>]*)<([^<>]*)>$/.exec(it) : null) ?? []
    const bare = name.trim().replace(/^"(.*)"$/, '$1')
    const address = storedEmail(inBrackets ?? it)
    const isName = bare.length <= nameCharactersMax && !/["\\]/.test(bare)
    if (!isShort || !isName || emailProblem(address) !== undefined) return undefined
    return bare === '' ? address : `"${bare}" <${address}>`
  },
  'Write an address that the mail server may send from, such as The letter <hello@example.com>.',
)

export const mailbox = text(
  'an email address: one without a name, such as owner@example.com',
  (it) => {
    const address = storedEmail(it)
    return emailProblem(address) === undefined ? address : undefined
  },
)
