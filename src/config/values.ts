import { isIP } from 'node:net'
import { whyNoReceiverAt } from '../platform/receiver-address.ts'
import { emailProblem, storedEmail } from '../signup/email.ts'
import { limits } from '../signup/limits.ts'
import { tabProblem } from '../signup/tab.ts'
import { hasUnprintable } from '../signup/text.ts'
import { entriesOf, wholeNumber } from './kinds.ts'
import type { ParsedSetting } from './refusal.ts'

/** Matches the URL of a spreadsheet in a browser: plain, with an account number, or with a domain. */
const spreadsheetUrl =
  /^(?:https?:\/\/)?docs\.google\.com\/(?:a\/[^/]+\/)?spreadsheets\/(?:u\/\d+\/)?d\/([^/?#]+)(?:[/?#].*)?$/i

/** Ids have 44 characters, but Google does not promise that. */
const idForm = /^[\w-]{20,100}$/

/** Parses the id or the URL of a spreadsheet and returns the id. */
export function spreadsheetId(text: string): ParsedSetting<string> {
  const id = spreadsheetUrl.exec(text)?.[1] ?? text
  if (idForm.test(id)) return { value: id }
  return {
    problem: /\/spreadsheets\/(u\/\d+\/)?d\/e\//.test(text)
      ? 'is the link of a published copy, which cannot be written to.'
      : 'is neither the id nor the URL of a Google spreadsheet.',
    expected:
      'the id of a spreadsheet, or its whole URL: https://docs.google.com/spreadsheets/d/<id>/edit',
    hint: 'Open the spreadsheet in a browser and copy the URL from the address bar.',
  }
}

/** Parses 0 or a number of days. One day is too short: a repeated request is answered for 25 hours. */
export function retentionDays(text: string, example: string): ParsedSetting<number> {
  const parsed = wholeNumber(0, 36_500).parse(text, example)
  if (!('value' in parsed) || parsed.value !== 1) return parsed
  return {
    problem: 'is too short: retries are answered for more than a day.',
    expected: '0 to keep everything, or a whole number from 2 to 36,500',
    hint: 'Set 2 or more, or 0 to keep everything.',
  }
}

/** A URL that begins with `https://` or `http://` and has no user name and no password; otherwise undefined. */
export function webUrl(text: string): URL | undefined {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  return url && url.username + url.password === '' ? url : undefined
}

/** Parses an http(s) URL and returns it without a slash at the end. */
export function httpUrl(text: string, example: string): ParsedSetting<string> {
  const url = webUrl(text)
  if (url && !/[?#]/.test(text)) return { value: url.href.replace(/\/+$/, '') }
  return {
    problem: 'is not an http(s) URL without user name, password, query and fragment.',
    expected: 'a URL that begins with https:// (or http://)',
    hint: `Write it in full, such as ${example}, or remove it for the default.`,
  }
}

export function listenHost(text: string): ParsedSetting<string> {
  const bare = text.replace(/^\[(.*)\]$/, '$1')
  const isName = /^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(bare) && !/^[\d.]+$/.test(bare)
  if (isIP(bare) !== 0 || isName) return { value: bare }
  return {
    problem: 'is neither an IP address nor a host name.',
    expected: 'an address of this machine, such as 0.0.0.0, 127.0.0.1, :: or localhost',
    hint: 'Leave out http:// and the port; the port goes into PORT.',
  }
}

export function tabName(text: string): ParsedSetting<string> {
  const problem = tabProblem(text)
  if (problem === undefined) return { value: text }
  return {
    problem,
    expected: `the name of a tab: 1 to ${limits.tabCharactersMax} characters in one line`,
    hint: 'Copy the name from the tab at the bottom of the spreadsheet.',
  }
}

/** Parses the path of a file or a folder. Returns it unchanged. */
export function filePath(text: string): ParsedSetting<string> {
  const expected = 'a path, absolute or from the working directory'
  if (text.startsWith('{') || text.includes('-----BEGIN')) {
    return {
      problem: 'holds a key instead of the path of a file.',
      expected,
      hint: 'Put the key into SHEETS_PRIVATE_KEY, or save it in a file and give its path here.',
    }
  }
  if (!hasUnprintable(text) && !text.startsWith('~')) return { value: text }
  return {
    problem: 'begins with ~, which only a shell understands, or has control characters in it.',
    expected,
    hint: 'Write the path in full on one line; in .env write Windows paths with / or without quotes.',
  }
}

export function emailAddress(text: string): ParsedSetting<string> {
  const isPersonal = /@(gmail|googlemail)\.com$/i.test(text)
  if (emailProblem(text) === undefined && !isPersonal) return { value: text }
  return {
    problem: isPersonal ? 'is the address of a person.' : 'is not an email address.',
    expected:
      'the address of a service account, such as rollcall@my-project.iam.gserviceaccount.com',
    hint: 'Copy client_email from the JSON key file.',
  }
}

/** Shorter keys can be guessed. */
const keyCharactersMin = 16

/** Parses a key or a token that programs send as `Authorization: Bearer`. */
export function bearerToken(text: string, example: string): ParsedSetting<string> {
  const examples = entriesOf(example)
  const problem = tokenProblem(text, examples)
  if (problem === undefined) return { value: text }
  const isSpaced = /\s/.test(text) && examples.length > 1
  return {
    problem,
    expected: `at least ${keyCharactersMin} visible ASCII characters, without spaces`,
    hint: isSpaced
      ? 'Put a comma between two keys.'
      : 'Make it with a password generator, or with: openssl rand -hex 32',
  }
}

function tokenProblem(text: string, examples: readonly string[]): string | undefined {
  if (examples.includes(text)) return 'is that of our documentation, which everybody knows.'
  if (/\s/.test(text)) return 'has white space in it.'
  if (!/^[\x21-\x7e]*$/.test(text)) return 'has a character that no HTTP header can carry.'
  return text.length < keyCharactersMin
    ? `is too short: it needs at least ${keyCharactersMin} characters.`
    : undefined
}

export function receiverUrl(text: string): ParsedSetting<string> {
  const url = webUrl(text)
  if (url && whyNoReceiverAt(url) === undefined) return { value: url.href }
  return {
    problem: url
      ? 'has an address that gets no messages.'
      : 'is not a URL of HTTPS or HTTP without user name and password.',
    expected: 'a URL that begins with https://, or http:// in the own network',
    hint: url
      ? 'Use https://: messages may not be read on their way. http:// is for private and loopback addresses, and a link-local address gets none.'
      : 'Copy the URL from the program that receives the messages. It knows Rollcall by the signature.',
  }
}

/** A key that signs messages: 24 to 64 bytes. */
export type WebhookKey = Uint8Array<ArrayBuffer>

/** Parses a secret of Standard Webhooks, or two of them while one takes the place of the other. */
export function webhookSecrets(
  text: string,
  example: string,
): ParsedSetting<readonly WebhookKey[]> {
  const secrets = text.split(/\s+/)
  const keys = secrets.flatMap((it) => webhookKey(it) ?? [])
  const isKnown = secrets.includes(example)
  if (keys.length === secrets.length && keys.length <= 2 && !isKnown) return { value: keys }
  return {
    problem: isKnown
      ? 'is the secret of our documentation, which everybody knows.'
      : 'is not whsec_ and then 24 to 64 bytes in base64.',
    expected:
      'whsec_ and then 24 to 64 bytes in base64; two of these with a space between them while one takes the place of the other',
    hint: 'Make one with: echo "whsec_$(openssl rand -base64 32)"',
  }
}

function webhookKey(secret: string): WebhookKey | undefined {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? ''
  const isWhole = base64.length % 4 === 0
  const key = Uint8Array.from(isWhole ? atob(base64) : '', (it) => it.charCodeAt(0))
  return key.length >= 24 && key.length <= 64 ? key : undefined
}

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
  const login = url && decoded(url.username, url.password)
  const isCoded = login !== undefined && !/[\s\p{Cc}]/u.test(text)
  if (!url || behind.includes('@') || !isCoded || hasUnprintable(login ?? '')) {
    return refused('has a character that must be written as a code, or is no URL.', urlCodes)
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

export const urlCodes =
  'In the user name and the password write % as %25, @ as %40, : as %3A, / as %2F, ? as %3F and # as %23.'

/** What parts of a URL stand for, with spaces between them; undefined when one has a wrong code. */
export function decoded(...parts: readonly string[]): string | undefined {
  try {
    return decodeURIComponent(parts.join(' '))
  } catch {
    return undefined
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
