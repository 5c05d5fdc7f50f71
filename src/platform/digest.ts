import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** The SHA-256 of a text in UTF-8, as base64. */
export function sha256(text: string): string {
  return hash('sha256', text, 'base64')
}

/** Returns the HMAC-SHA-256 of a text in UTF-8 with one key, as base64url. */
export type Hmac = (text: string) => string

export function hmacWith(key: Uint8Array): Hmac {
  return (text) => createHmac('sha256', key).update(text).digest('base64url')
}

/** Compares texts in a time that tells nothing but whether their lengths are the same. */
export function isEqual(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
