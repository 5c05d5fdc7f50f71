/** A puzzle of version 2 of ALTCHA's protocol, and its work. The service and browsers do it in the same way. */

/** The signature is over the parameters as they stand here. Bytes are hexadecimal, in small letters. */
export interface Puzzle {
  readonly parameters: Readonly<{
    algorithm: string
    /** Rounds of PBKDF2 for each key. */
    cost: number
    /** Seconds since 1970. */
    expiresAt: number
    /** In bytes. */
    keyLength: number
    /** What the key of the secret number begins with. */
    keyPrefix: string
    /** Of that key, so that a solution is checked without a key derivation. */
    keySignature: string
    nonce: string
    salt: string
  }>
  readonly signature: string
}

/** The only algorithm of our puzzles. */
export const algorithm = 'PBKDF2/SHA-256'

/** One step of the work: the key of this number, below 2^32. The runtime makes it beside the event loop. */
export async function keyOf(
  counter: number,
  {
    nonce,
    salt,
    cost,
    keyLength,
  }: Pick<Puzzle['parameters'], 'nonce' | 'salt' | 'cost' | 'keyLength'>,
): Promise<string> {
  const password = fromHex(nonce + counter.toString(16).padStart(8, '0'))
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits'])
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt: fromHex(salt), iterations: cost }
  return toHex(new Uint8Array(await crypto.subtle.deriveBits(how, key, 8 * keyLength)))
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}
