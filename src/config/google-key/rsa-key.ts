import { createPrivateKey, createPublicKey, sign, verify, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { type KeyRefusal, notTheKey } from './not-the-key.ts'

/** The minimum for RSA signatures in NIST SP 800-131A, and the size of Google's keys. */
const modulusBitsMin = 2048

const useServiceAccountKey =
  'Use the private_key of the JSON key file that Google made for the service account.'
const copyAgain = 'Copy it again, from the first to the last character of private_key.'
const unreadable = { problem: 'is damaged: it cannot be read as a key.', hint: copyAgain }

/** Checks a key in DER (PKCS#8 or PKCS#1) and returns it as PKCS#8 in PEM. */
export function readRsaKey(der: Buffer): { readonly pem: string } | KeyRefusal {
  const outer = readSequence(der)
  if (!outer) {
    return { problem: 'is not a key, or its beginning is damaged.', hint: copyAgain }
  }
  if (der.length < outer.end) {
    const percent = Math.floor((der.length / outer.end) * 100)
    return { problem: `is incomplete: about ${percent} % of it is there.`, hint: copyAgain }
  }
  const key = privateKeyIn(der)
  if (key) return checkRsa(key)
  return notTheKey('label', labelOf(der, outer.start)) ?? unreadable
}

/** The start and the declared end of the outermost SEQUENCE's content (X.690, 8.1.3). */
function readSequence(der: Buffer): { readonly start: number; readonly end: number } | undefined {
  const first = der[1]
  if (der[0] !== 0x30 || first === undefined) return undefined
  if (first < 0x80) return { start: 2, end: 2 + first }
  const start = 2 + (first & 0x7f)
  if (start === 2 || start > 6 || der.length < start) return undefined
  return { start, end: start + der.readUIntBE(2, start - 2) }
}

function privateKeyIn(der: Buffer): KeyObject | undefined {
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    const key = attempt(() => createPrivateKey({ key: der, format: 'der', type }))
    if (key) return key
  }
  return undefined
}

function checkRsa(key: KeyObject): { readonly pem: string } | KeyRefusal {
  const type = key.asymmetricKeyType ?? 'unknown'
  if (type !== 'rsa') {
    const name = type === 'ec' ? 'an elliptic-curve (EC) key' : `a key of another kind (${type})`
    return { problem: `is ${name}; Google's are RSA keys.`, hint: useServiceAccountKey }
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits < modulusBitsMin) {
    return {
      problem: `is an RSA key of ${bits} bits; at least ${modulusBitsMin} are needed.`,
      hint: useServiceAccountKey,
    }
  }
  if (!signsWell(key)) {
    return { problem: 'is damaged: its signatures do not verify.', hint: copyAgain }
  }
  return { pem: key.export({ type: 'pkcs8', format: 'pem' }) }
}

/** Whether the key's signatures verify. A key with a wrong character can still be read. */
function signsWell(key: KeyObject): boolean {
  const data = Buffer.from('rollcall')
  return (
    attempt(() => verify('sha256', data, createPublicKey(key), sign('sha256', data, key))) ?? false
  )
}

/** The label that other bytes than a private key should have in PEM; empty when they are damaged. */
function labelOf(der: Buffer, start: number): string {
  const isPublic =
    attempt(() => createPublicKey({ key: der, format: 'der', type: 'spki' })) ??
    attempt(() => createPublicKey({ key: der, format: 'der', type: 'pkcs1' }))
  if (isPublic) return 'PUBLIC KEY'
  if (attempt(() => new X509Certificate(der))) return 'CERTIFICATE'
  // PKCS#12 begins with its version 3 (RFC 7292), an encrypted PKCS#8 with an algorithm (RFC 5958).
  const content = der.subarray(start)
  if (content.subarray(0, 3).equals(Buffer.from([2, 1, 3]))) return 'PKCS12'
  return content[0] === 0x30 ? 'ENCRYPTED' : ''
}

/** The result of `read`; undefined when node:crypto cannot read the bytes and throws. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
