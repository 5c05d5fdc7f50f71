import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { ParsedSetting, SettingRefusal } from '../refusal.ts'
import { emailAddress } from '../values.ts'
import { isRecord } from '../../signup/json.ts'

export interface PrivateKey {
  /** PKCS#8, PEM. */
  readonly pem: string
  /** Address of the service account, when the text was a whole JSON key file. */
  readonly clientEmail?: string
}

/** How often a key may be encoded in base64. Some secret stores encode an encoded text again. */
const base64DepthMax = 3

/** Several times the size of a JSON key file, even when it is encoded twice in base64. */
const charactersMax = 32 * 1024

/** The minimum for RSA signatures in NIST SP 800-131A, and the size of Google's keys. */
const modulusBitsMin = 2048

const copyAgain =
  'Copy it again: the whole private_key of the JSON key file, or the whole file, as it is.'

const noKey: KeyRefusal = {
  problem:
    'is not a private key: neither a text with -----BEGIN PRIVATE KEY----- nor base64 of one.',
  hint: copyAgain,
}

const damaged: KeyRefusal = {
  problem: 'is incomplete, damaged, protected by a passphrase, or no private key.',
  hint: copyAgain,
}

/** Matches one line that begins or ends as no key does. */
const path = /^(~|\.{1,2})?[\\/][^\n]*$|^[a-z]:[\\/][^\n]*$|^[^\n]*\.(json|pem|p12|key)$/i

const isPath: KeyRefusal = {
  problem: 'is the path of a file, which belongs in SHEETS_CREDENTIALS_FILE.',
  hint: 'Set SHEETS_CREDENTIALS_FILE to that path, and remove SHEETS_PRIVATE_KEY and SHEETS_CREDENTIALS_EMAIL.',
}

/**
 * Parses the private key of a service account from any form that people paste: PKCS#8 or PKCS#1, or
 * the whole JSON key file, or base64 of either; quoted or not; with real or escaped line breaks, any
 * number of backslashes, or on one line. A refusal tells what the text is instead.
 */
export function parsePrivateKey(
  text: string,
  base64Depth = base64DepthMax,
): PrivateKey | KeyRefusal {
  if (text.length > charactersMax) return { problem: 'is longer than any key.', hint: copyAgain }
  const bare = unwrap(text)
  if (bare === '') return { problem: 'is empty.', hint: copyAgain }
  if (bare.startsWith('{')) {
    const file = readKeyFile(bare)
    if ('problem' in file) return file
    const key = parsePrivateKey(file.privateKey, base64Depth)
    return 'problem' in key ? key : { pem: key.pem, clientEmail: file.clientEmail }
  }
  const plain = unescape(bare)
  if (/-\s*BEGIN/.test(plain)) return parsePem(plain)

  const base64 = plain.replace(/(?<!-)-+\s*END[A-Z ]*-*\s*$/, '').replace(/\s/g, '')
  const isBase64 = /^[\w+/-]{60,}=*$/.test(base64)
  if (!isBase64 || base64Depth === 0) return path.test(bare) ? isPath : noKey
  const bytes = Buffer.from(base64, 'base64')
  const inner = textIn(bytes)
  return inner === undefined ? readRsaKey(bytes) : parsePrivateKey(inner, base64Depth - 1)
}

export const keyExpected = 'the private key (RSA) of a Google service account'

/** Parses such a key as a setting. The address beside it must be that of a service account. */
export function privateKey(text: string): ParsedSetting<PrivateKey> {
  const key = parsePrivateKey(text)
  if ('problem' in key) return { ...key, expected: keyExpected }
  const email = key.clientEmail === undefined ? undefined : emailAddress(key.clientEmail)
  if (email === undefined || 'value' in email) return { value: key }
  return { ...email, problem: `has a client_email in its JSON that ${email.problem}` }
}

/** Removes white space, byte order marks and nested quotes around a pasted text. */
function unwrap(text: string): string {
  let bare = text.replace(/[\u200b-\u200d\u2060\ufeff]/g, '').trim()
  for (;;) {
    const inner = /^(\\*["'`])(.*)\1$/s.exec(bare)?.[2]
    if (inner === undefined) return bare
    bare = inner.trim()
  }
}

/**
 * Restores line breaks and the dashes that a word processor made long. Removes all backslashes, because
 * neither PEM nor base64 has any.
 */
function unescape(text: string): string {
  return text
    .replace(/(?<!\\)\\+u([0-9a-f]{4})/gi, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    )
    .replace(/(?<!\\)\\+[rnt]/g, '\n')
    .replaceAll('\\', '')
    .replace(/[\u2010-\u2015]/g, '-')
}

/** Parses PEM. A label may have lost its spaces. The END line may be missing, because the key itself tells its length. */
function parsePem(text: string): PrivateKey | KeyRefusal {
  const body = /-\s*BEGIN[A-Z0-9\s]*PRIVATE\s?KEY\s*-+([^-]*)/.exec(text)?.[1]
  if (body === undefined) return noKey
  const base64 = withoutBareN(body.replace(/\s/g, ''))
  if (base64 !== '') return readRsaKey(Buffer.from(base64, 'base64'))
  return {
    problem: 'stops after its first line.',
    hint: 'In .env, put the key between double quotes, where it may have several lines. Elsewhere, write it on one line with \\n for each line break.',
  }
}

/**
 * Removes the `n` that a shell leaves at each line end of an unquoted `\n`. No key begins with `n`.
 */
function withoutBareN(base64: string): string {
  const isShellEaten = /^n(?:.{64}n)*.{1,64}n?$/.test(base64)
  return isShellEaten ? base64.replace(/n(.{0,64})/g, '$1') : base64
}

/** The decoded base64 if it is text; undefined otherwise. PowerShell's texts are UTF-16. */
function textIn(bytes: Buffer): string | undefined {
  const text = bytes.toString(bytes[1] === 0 || bytes[0] === 0xff ? 'utf16le' : 'utf8')
  return /^[\s\x20-\x7e\ufeff]+$/.test(text) ? text : undefined
}

/** Checks a key in DER (PKCS#8 or PKCS#1) and returns it as PKCS#8 in PEM. */
function readRsaKey(der: Buffer): PrivateKey | KeyRefusal {
  const key =
    attempt(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })) ??
    attempt(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs1' }))
  if (!key) return damaged
  const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength: bits = 0 } = {} } = key
  if (type !== 'rsa' || bits < modulusBitsMin) {
    const kind = type === 'rsa' ? `RSA with ${bits} bits` : String(type)
    const needed = `RSA with ${modulusBitsMin} bits or more is needed`
    return { problem: `is a key of the kind ${kind}; ${needed}.`, hint: makeKey }
  }
  // A key with a wrong character can still be read.
  const data = Buffer.from('rollcall')
  const signsWell = () => verify('sha256', data, createPublicKey(key), sign('sha256', data, key))
  return attempt(signsWell) ? { pem: key.export({ type: 'pkcs8', format: 'pem' }) } : damaged
}

/** The result of `read`; undefined when node:crypto cannot read the bytes and throws. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Why a text is not the private key of a service account, and what to do. Never quotes the text. */
type KeyRefusal = Omit<SettingRefusal, 'expected'>

const makeKey =
  'Make a JSON key in the Google Cloud console (IAM & Admin, Service Accounts, the account, Keys, Add key), and use that file as it is.'

interface KeyFile {
  readonly clientEmail: string
  readonly privateKey: string
}

/** Reads the JSON key file of a service account, even when copying removed or doubled its escapes. */
function readKeyFile(text: string): KeyFile | KeyRefusal {
  const content = parseJson(text)
  if (!isRecord(content)) {
    return {
      problem: 'begins like a JSON key file, but is not valid JSON: it was cut off or damaged.',
      hint: "In .env, put the whole file between single quotes: SHEETS_PRIVATE_KEY='{…}'. Elsewhere, copy it again; or give its base64, which no shell changes; or set SHEETS_CREDENTIALS_FILE to its path.",
    }
  }
  const { client_email: clientEmail, private_key: privateKey } = content
  if (typeof privateKey === 'string' && typeof clientEmail === 'string') {
    return { clientEmail, privateKey }
  }
  const problem =
    'is no key file of a service account: without private_key or without client_email.'
  return { problem, hint: makeKey }
}

/** Parses JSON that is intact, has damaged line breaks, or was escaped once more as a whole. */
function parseJson(text: string): unknown {
  const attempts = [
    () => text,
    () => repairLineBreaks(text),
    () => String(JSON.parse(`"${text.replace(/\r?\n/g, ' ')}"`)),
  ]
  for (const attempt of attempts) {
    try {
      return JSON.parse(attempt())
    } catch {
      // Try the next reading. The caller reports when all fail.
    }
  }
  return undefined
}

/**
 * Repairs line breaks: inside a string, a real one becomes an escaped one; between strings, an escaped
 * one becomes a space.
 */
function repairLineBreaks(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\\+[nrt]/gs, (_, string: string | undefined) =>
    string === undefined ? ' ' : string.replace(/\r?\n/g, '\\n'),
  )
}
