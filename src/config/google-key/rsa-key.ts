import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import type { SettingRefusal } from '../refusal.ts'

/** Why a text is not the private key of a service account, and what to do. Never quotes the text. */
export type KeyRefusal = Omit<SettingRefusal, 'expected'>

/** The minimum for RSA signatures in NIST SP 800-131A, and the size of Google's keys. */
const modulusBitsMin = 2048

const useServiceAccountKey =
  'Use the private_key of the JSON key file that Google made for the service account.'
const copyAgain = 'Copy it again, from the first to the last character of private_key.'

/** Checks a key in DER (PKCS#8 or PKCS#1) and returns it as PKCS#8 in PEM. */
export function readRsaKey(der: Buffer): { readonly pem: string } | KeyRefusal {
  const end = declaredEnd(der)
  if (end === undefined) {
    return { problem: 'is not a key, or its beginning is damaged.', hint: copyAgain }
  }
  if (der.length < end) {
    const percent = Math.floor((der.length / end) * 100)
    return { problem: `is incomplete: about ${percent} % of it is there.`, hint: copyAgain }
  }
  const key =
    attempt(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })) ??
    attempt(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs1' }))
  if (key) return checkRsa(key)
  return { problem: 'is damaged, or something else than a private key.', hint: copyAgain }
}

/** Where the outermost SEQUENCE says that it ends (X.690, 8.1.3). */
function declaredEnd(der: Buffer): number | undefined {
  const first = der[1]
  if (der[0] !== 0x30 || first === undefined) return undefined
  if (first < 0x80) return 2 + first
  const start = 2 + (first & 0x7f)
  if (start === 2 || start > 6 || der.length < start) return undefined
  return start + der.readUIntBE(2, start - 2)
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

/** The result of `read`; undefined when node:crypto cannot read the bytes and throws. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
