import { isIP } from 'node:net'
import { whyNoReceiverAt } from '../platform/receiver-address.ts'
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
    problem: whatElse(text),
    expected:
      'the id of a spreadsheet, or its whole URL: https://docs.google.com/spreadsheets/d/<id>/edit',
    hint: 'Open the spreadsheet in a browser and copy the URL from the address bar.',
  }
}

function whatElse(text: string): string {
  if (/\/spreadsheets\/(u\/\d+\/)?d\/e\//.test(text)) {
    return 'is the link of a published copy, which cannot be written to.'
  }
  if (/^https?:|\//.test(text)) return 'is a URL, but not one of a Google spreadsheet.'
  if (/^[\w-]*$/.test(text)) return 'is too short or too long for the id of a spreadsheet.'
  return 'has characters that the id of a spreadsheet cannot have.'
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

/** Parses an http(s) URL and returns it without a slash at the end. */
export function httpUrl(text: string, example: string): ParsedSetting<string> {
  const expected =
    'a URL that begins with https:// (or http://), without query, fragment or password'
  const url = URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text)) {
    return {
      problem: 'is not an http(s) URL.',
      expected,
      hint: `Write it in full, such as ${example}, or remove it for the default.`,
    }
  }
  if (/[?#]/.test(text) || url.username + url.password !== '') {
    return {
      problem: 'has a query, a fragment, a user name or a password in it.',
      expected,
      hint: 'Remove what is before an @, and what begins with ? or #. Rollcall uses none of it.',
    }
  }
  return { value: url.href.replace(/\/+$/, '') }
}

/** Parses an IP address or a host name to listen on. */
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

/** Parses the name of a tab, by the rules for signups. */
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
  if (hasUnprintable(text)) {
    return {
      problem: 'has line breaks or other control characters in it.',
      expected,
      hint: 'Write the path on one line; in .env write Windows paths with / or without quotes.',
    }
  }
  if (text.startsWith('~')) {
    return {
      problem: 'begins with ~, which only a shell understands.',
      expected,
      hint: 'Write the path of the home folder in full.',
    }
  }
  return { value: text }
}

/** Parses the address of a service account. */
export function emailAddress(text: string): ParsedSetting<string> {
  const isAddress =
    /^[^\s@<>"',;]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text) &&
    text.length <= limits.emailCharactersMax
  const isPersonal = /@(gmail|googlemail)\.com$/i.test(text)
  if (isAddress && !isPersonal) return { value: text }
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
  const isSendable = /^[\x21-\x7e]+$/.test(text)
  const isOwn = !entriesOf(example).includes(text)
  if (isSendable && text.length >= keyCharactersMin && isOwn) return { value: text }
  const unusable = isSendable
    ? `has under ${keyCharactersMin} characters.`
    : 'has a character that no HTTP header can carry.'
  return {
    problem: isOwn ? unusable : 'is that of our documentation, which everybody knows.',
    expected: `at least ${keyCharactersMin} visible ASCII characters, without spaces`,
    hint: 'Make it with a password generator, or with: openssl rand -hex 32',
  }
}

const receiverForm =
  'a URL that begins with https://, or http:// in the own network, without user name and password'

/** Parses the URL that notices go to. */
export function receiverUrl(text: string): ParsedSetting<string> {
  const url = URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text)) {
    const hint = 'Copy the URL from the program that receives the notices.'
    return { problem: 'is not a URL of HTTPS or HTTP.', expected: receiverForm, hint }
  }
  if (whyNoReceiverAt(url) !== undefined) {
    const hint =
      'Use https://: notices may not be read on their way. http:// is for private and loopback addresses, and a link-local address gets none.'
    return { problem: 'has an address that gets no notices.', expected: receiverForm, hint }
  }
  if (url.username !== '' || url.password !== '') {
    return {
      problem: 'has a user name or a password in it.',
      expected: receiverForm,
      hint: 'Remove the part before the @. The receiver knows Rollcall by the signature.',
    }
  }
  return { value: url.href }
}

/** Parses a secret of Standard Webhooks. */
export function webhookSecret(
  text: string,
  example: string,
): ParsedSetting<Uint8Array<ArrayBuffer>> {
  const refused = (problem: string) => ({
    problem,
    expected: 'whsec_ and then 24 to 64 bytes in base64',
    hint: 'Make one with: echo "whsec_$(openssl rand -base64 32)"',
  })
  if (text === example) return refused('is the secret of our documentation, which everybody knows.')
  const base64 = /^whsec_(.*)$/s.exec(text)?.[1]
  if (base64 === undefined) return refused('does not begin with whsec_.')
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && base64.length % 4 === 0
  if (!isBase64) return refused('is not base64 after whsec_.')
  const key = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  if (key.length < 24) return refused(`has ${key.length} bytes, which is too short.`)
  if (key.length > 64) return refused(`has ${key.length} bytes, which is too long.`)
  return { value: key }
}
