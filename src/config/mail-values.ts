import { emailProblem, storedEmail } from '../signup/email.ts'
import { hasUnprintable } from '../signup/text.ts'
import type { ParsedSetting } from './refusal.ts'
import { httpUrl } from './values.ts'

const serverExpected =
  'a URL such as smtps://USER:PASSWORD@HOST or smtp://USER:PASSWORD@HOST:587, without path and query'

/** Parses the URL of a mail server. The user and the password in it are percent-encoded. */
export function mailUrl(text: string): ParsedSetting<string> {
  const refused = (problem: string, hint: string) => ({ problem, expected: serverExpected, hint })
  if (!/^smtps?:\/\//i.test(text)) {
    const hint = 'Begin it with smtps:// for port 465, or with smtp:// for STARTTLS on port 587.'
    return refused('is not the URL of a mail server.', hint)
  }
  const url = URL.parse(text)
  const behind = url ? url.pathname + url.search + url.hash : ''
  // What is behind an unwritten / ? or # of a password ends with the @ before the host.
  if (!url || behind.includes('@') || !isDecodable(url) || /[\s\p{Cc}]/u.test(text)) {
    const hint =
      'In the user name and the password write % as %25, @ as %40, : as %3A, / as %2F, ? as %3F and # as %23.'
    return refused('has a character that must be written as a code, or is no URL.', hint)
  }
  const isHost = /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])$/i.test(url.hostname) && url.port !== '0'
  const isPair = (url.username === '') === (url.password === '')
  if (!isHost || !isPair || behind.length > 1) {
    const hint =
      'Write the host, before it both of USER:PASSWORD@ or neither, and no path behind it.'
    return refused('has more or less in it than a user with a password, a host and a port.', hint)
  }
  return { value: url.href }
}

/** Whether user name and password can be decoded, to text that a login can carry. */
function isDecodable({ username, password }: URL): boolean {
  try {
    return !hasUnprintable(decodeURIComponent(username) + decodeURIComponent(password))
  } catch {
    return false
  }
}

const nameCharactersMax = 100

/** Parses a sender: an address, or a name and the address in angle brackets. */
export function mailFrom(text: string, example: string): ParsedSetting<string> {
  const isShort = text.length <= nameCharactersMax + 300 && !hasUnprintable(text)
  const [, name = '', inBrackets] = (isShort ? /^([^<>]*)<([^<>]*)>$/.exec(text) : null) ?? []
  const bare = name.trim().replace(/^"(.*)"$/, '$1')
  const address = storedEmail(inBrackets ?? text)
  const hasName = bare !== ''
  const isName = bare.length <= nameCharactersMax && !/["\\]/.test(bare)
  if (isShort && isName && emailProblem(address) === undefined)
    return { value: hasName ? `"${bare}" <${address}>` : address }
  return {
    problem: 'is not the sender of a mail.',
    expected: 'name@host, or Name <name@host>, in one line and without quotes in the name',
    hint: `Write it such as ${example}: an address that the mail server may send from.`,
  }
}

/** Parses the address of a person. */
export function mailbox(text: string): ParsedSetting<string> {
  const address = storedEmail(text)
  if (emailProblem(address) === undefined) return { value: address }
  return {
    problem: 'is not an email address.',
    expected: 'one address, such as owner@example.com',
    hint: 'Write the address alone, without a name.',
  }
}

/** A line of a mail has at most 998 characters (RFC 5322), and a link has to fit into a header. */
const urlCharactersMax = 500

/** Parses the URL under which visitors reach this service. Returns it without a slash at the end. */
export function publicUrl(text: string, example: string): ParsedSetting<string> {
  const isShort = text.length <= urlCharactersMax && !/[\s\p{Cc}]/u.test(text)
  const url = isShort ? httpUrl(text, example) : undefined
  if (url && 'value' in url) return url
  return {
    problem: 'is not a short http(s) URL without user name, password, query and fragment.',
    expected: 'the URL under which visitors reach this service, such as https://signup.example.com',
    hint: 'Open the signup page in a browser and copy its address, without what follows a ?.',
  }
}
