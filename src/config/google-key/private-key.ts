import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { text, Wrong, wrongOf } from '../kind.ts'
import { emailAddress } from '../values.ts'

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

const noKey = new Wrong(
  'is not a private key: neither a text with -----BEGIN PRIVATE KEY----- nor base64 of one.',
)

const damaged = new Wrong('is incomplete, damaged, protected by a passphrase, or no private key.')

/** Matches one line that begins or ends as no key does. */
const path = /^(~|\.{1,2})?[\\/][^\n]*$|^[a-z]:[\\/][^\n]*$|^[^\n]*\.(json|pem|p12|key)$/i

const isPath = new Wrong(
  'is the path of a file, which belongs in SHEETS_CREDENTIALS_FILE.',
  'Set SHEETS_CREDENTIALS_FILE to that path, and remove SHEETS_PRIVATE_KEY and SHEETS_CREDENTIALS_EMAIL.',
)

/**
 * Parses the private key of a service account from any form that people paste: PKCS#8 or PKCS#1, or
 * the whole JSON key file, or base64 of either; quoted or not; with real or escaped line breaks, any
 * number of backslashes, or on one line. A refusal tells what the text is instead.
 */
export function parsePrivateKey(text: string, base64Depth = base64DepthMax): PrivateKey | Wrong {
  if (text.length > charactersMax) return new Wrong('is longer than any key.')
  const plain = unescape(text)
  if (plain === '') return new Wrong('is empty.')
  if (plain.startsWith('{')) return readKeyFile(plain, base64Depth)
  if (/-\s*BEGIN/.test(plain)) return parsePem(plain)

  const base64 = plain.replace(/(?<!-)-+\s*END[A-Z ]*-*\s*$/, '').replace(/\s/g, '')
  const isBase64 = /^[\w+/-]{60,}=*$/.test(base64)
  if (!isBase64 || base64Depth === 0) return path.test(text.trim()) ? isPath : noKey
  const bytes = Buffer.from(base64, 'base64')
  const inner = textIn(bytes)
  return inner === undefined ? readRsaKey(bytes) : parsePrivateKey(inner, base64Depth - 1)
}

/** The key of a service account. The address beside it must be that of one. */
export function readPrivateKey(text: string): PrivateKey | Wrong {
  const key = parsePrivateKey(text)
  if (key instanceof Wrong || key.clientEmail === undefined) return key
  const wrong = wrongOf(emailAddress, key.clientEmail)
  return wrong ? new Wrong(`has a client_email in its JSON that ${wrong.problem}`, wrong.hint) : key
}

export const privateKey = text(
  'the private key (RSA) of a Google service account',
  readPrivateKey,
  'Copy it again: the whole private_key of the JSON key file, or the whole file, as it is.',
)

/**
 * Restores line breaks and the dashes that a word processor made long. Removes all backslashes, because
 * neither PEM nor base64 has any, and quotes, white space and byte order marks around a pasted text.
 */
function unescape(text: string): string {
  return text
    .replace(/(?<!\\)\\+u([0-9a-f]{4})/gi, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    )
    .replace(/(?<!\\)\\+[rnt]/g, '\n')
    .replace(/[\\\u200b-\u200d\u2060\ufeff]/g, '')
    .replace(/[\u2010-\u2015]/g, '-')
    .replace(/^["'`\s]+|(?<!["'`\s])["'`\s]+$/g, '')
}

/** Parses PEM. A label may have lost its spaces. The END line may be missing, because the key itself tells its length. */
function parsePem(text: string): PrivateKey | Wrong {
  const body = /-\s*BEGIN[A-Z0-9\s]*PRIVATE\s?KEY\s*-+([^-]*)/.exec(text)?.[1]
  if (body === undefined) return noKey
  const base64 = withoutBareN(body.replace(/\s/g, ''))
  if (base64 !== '') return readRsaKey(Buffer.from(base64, 'base64'))
  return new Wrong(
    'stops after its first line.',
    'In .env, put the key between double quotes, where it may have several lines. Elsewhere, write it on one line with \\n for each line break.',
  )
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
function readRsaKey(der: Buffer): PrivateKey | Wrong {
  const key =
    attempt(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })) ??
    attempt(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs1' }))
  if (!key) return damaged
  const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength: bits = 0 } = {} } = key
  if (type !== 'rsa' || bits < modulusBitsMin) {
    const kind = type === 'rsa' ? `RSA with ${bits} bits` : String(type)
    const needed = `RSA with ${modulusBitsMin} bits or more is needed`
    return new Wrong(`is a key of the kind ${kind}; ${needed}.`, makeKey)
  }
  // A key with a wrong character can still be read.
  const data = Buffer.from('rollcall')
  const signsWell = () => verify('sha256', data, createPublicKey(key), sign('sha256', data, key))
  return attempt(signsWell) ? { pem: key.export({ type: 'pkcs8', format: 'pem' }) } : damaged
}

/** The result of `read`; undefined when it throws, as node:crypto does for bytes that it cannot read. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const makeKey =
  'Make a JSON key in the Google Cloud console (IAM & Admin, Service Accounts, the account, Keys, Add key), and use that file as it is.'

/**
 * Reads the JSON key file of a service account. Without its escapes it is no JSON any more, so only the two
 * members are looked for.
 */
function readKeyFile(text: string, base64Depth: number): PrivateKey | Wrong {
  const [, privateKey] = /"private_key"\s*:\s*"([^"]*)"/.exec(text) ?? []
  const [, clientEmail] = /"client_email"\s*:\s*"([^"]*)"/.exec(text) ?? []
  if (privateKey !== undefined && clientEmail !== undefined) {
    const key = parsePrivateKey(privateKey, base64Depth)
    return key instanceof Wrong ? key : { pem: key.pem, clientEmail }
  }
  if (!text.endsWith('}'))
    return new Wrong(
      'begins like a JSON key file, but is not valid JSON: it was cut off or damaged.',
      "In .env, put the whole file between single quotes: SHEETS_PRIVATE_KEY='{…}'. Elsewhere, copy it again; or give its base64, which no shell changes; or set SHEETS_CREDENTIALS_FILE to its path.",
    )
  const problem =
    'is no key file of a service account: without private_key or without client_email.'
  return new Wrong(problem, makeKey)
}
