import { readKeyFile } from './key-file.ts'
import { copyAgain, notTheKey } from './not-the-key.ts'
import type { KeyRefusal } from './not-the-key.ts'
import { readRsaKey } from './rsa-key.ts'

export interface PrivateKey {
  /** PKCS#8, PEM. */
  readonly pem: string
  /** Address of the service account, when the text was a whole JSON key file. */
  readonly clientEmail?: string
}

/**
 * Enough for a secret store that encodes what was encoded before; deeper is a mistake to be told.
 */
const base64DepthMax = 3

/** Many times a JSON key file, in base64 of base64. */
const charactersMax = 32 * 1024

const noKey: KeyRefusal = {
  problem:
    'is not a private key: neither a text with -----BEGIN PRIVATE KEY----- nor base64 of one.',
  hint: copyAgain,
}

/**
 * Parses the private key of a service account from any form that people paste: quoted or not, real
 * line breaks or escaped ones, with any number of backslashes, on one line, PKCS#8 or PKCS#1, base64
 * of it, the whole JSON key file or base64 of that. The refusal says in words what it is instead.
 */
export function parsePrivateKey(text: string): PrivateKey | KeyRefusal {
  return parse(text, base64DepthMax)
}

function parse(text: string, base64Depth: number): PrivateKey | KeyRefusal {
  if (text.length > charactersMax) return { problem: 'is longer than any key.', hint: copyAgain }
  const bare = unwrap(text)
  if (bare === '') return { problem: 'is empty.', hint: copyAgain }
  if (bare.startsWith('{')) {
    const file = readKeyFile(bare)
    if ('problem' in file) return file
    const key = parse(file.privateKey, base64Depth)
    return 'problem' in key ? key : { pem: key.pem, clientEmail: file.clientEmail }
  }
  const plain = unescape(bare)
  if (/-\s*BEGIN/.test(plain)) return parsePem(plain)

  const base64 = plain.replace(/(?<!-)-+\s*END[A-Z ]*-*\s*$/, '').replace(/\s/g, '')
  const isBase64 = /^[\w+/-]{60,}=*$/.test(base64)
  if (!isBase64 || base64Depth === 0) return notTheKey('text', bare) ?? noKey
  const bytes = Buffer.from(base64, 'base64')
  const inner = textIn(bytes)
  return inner === undefined ? readRsaKey(bytes) : parse(inner, base64Depth - 1)
}

/** Without what surrounds a pasted text: white space, a byte order mark, quotes around quotes. */
function unwrap(text: string): string {
  let bare = text.replace(/[\u200b-\u200d\u2060\ufeff]/g, '').trim()
  for (;;) {
    const inner = /^(\\*["'`])(.*)\1$/s.exec(bare)?.[2]
    if (inner === undefined) return bare
    bare = inner.trim()
  }
}

/**
 * With real line breaks, plain dashes where a word processor made long ones, and no backslash:
 * neither PEM nor base64 has any of its own.
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

/**
 * A label may have lost its spaces; the END line is not needed, the key itself tells its length.
 */
function parsePem(text: string): PrivateKey | KeyRefusal {
  const blocks = [...text.matchAll(/-\s*BEGIN\s*([A-Z0-9 ]*?)\s*-+([^-]*)/g)].map((match) => ({
    label: match[1] ?? '',
    body: match[2] ?? '',
  }))
  const block = blocks.find(({ label }) => /PRIVATE ?KEY$/.test(label)) ?? blocks[0]
  if (!block) return { problem: 'has a damaged BEGIN line.', hint: copyAgain }
  const { label, body } = block
  const isEncrypted = text.includes('ENCRYPTED')
  const other = notTheKey('label', isEncrypted ? 'ENCRYPTED' : label)
  if (other) return other

  const base64 = withoutBareN(body.replace(/\s/g, ''))
  if (base64 === '') {
    return {
      problem: 'stops after its first line.',
      hint: 'In .env put the key between double quotes, so that it may have several lines; elsewhere write it on one line with \\n for each line break.',
    }
  }
  const stray = /[^A-Za-z0-9+/=]/u.exec(base64)?.[0]
  if (stray !== undefined) {
    return {
      problem: `has a character in it that no key has (${JSON.stringify(stray)}): a placeholder, or damaged on the way.`,
      hint: copyAgain,
    }
  }
  return readRsaKey(Buffer.from(base64, 'base64'))
}

/**
 * Undoes what a shell makes of an unquoted `\n`: a bare n at each line end. No key begins with n.
 */
function withoutBareN(base64: string): string {
  const isShellEaten = /^n(?:.{64}n)*.{1,64}n?$/.test(base64)
  return isShellEaten ? base64.replace(/n(.{0,64})/g, '$1') : base64
}

/** What base64 stood for, when it was a text. PowerShell's texts have two bytes a character. */
function textIn(bytes: Buffer): string | undefined {
  const text = bytes.toString(bytes[1] === 0 || bytes[0] === 0xff ? 'utf16le' : 'utf8')
  return /^[\s\x20-\x7e\ufeff]+$/.test(text) ? text : undefined
}
