import { createHmac, hash, randomBytes } from 'node:crypto'
import { remember } from '../platform/remember.ts'
import type { OwnedKey } from './contracts/intake-log.ts'

/** The secret with which the journal hashes addresses and idempotency keys: 64 hexadecimal digits. */
export type Secret = string

export function newSecret(): Secret {
  return randomBytes(32).toString('hex')
}

/** The hash of an address in a tombstone. */
export function addressHash(secret: Secret, address: string): string {
  return keyed(secret, 'address', address.toLowerCase())
}

/** The length of `personOf`: 72 bits, because indexes of random texts cost by their size. */
export const personLength = 12

/** What a person is called, or a mailbox (`mailboxOf`): the beginning of the hash of the address. */
export function personOf(hash: string): string
export function personOf(hash: string | null): string | null
export function personOf(hash: string | null): string | null {
  return hash?.slice(0, personLength) ?? null
}

/** The form in which the journal stores which client has asked for a mail. */
export function shareHash(secret: Secret, share: string): string {
  return keyed(secret, 'share', share).slice(0, 11)
}

/** So many hashes of keys are kept: a request looks for its key twice before it stores it. */
const keysKept = 1_000

/** The length of what is stored of a key, and of a request's fingerprint: 132 bits. */
const keyLength = 22

/** The keys that the embed and the client make: milliseconds since 1970, and four random numbers. */
const timedKey = /^(\d{13})(?:-\d{1,10}){4}$/

/**
 * Returns the form in which the journal stores an idempotency key. The time of a key that we made goes first: keys of
 * one time are neighbours in their index then, where each other key changes a page of its own.
 */
export function keyHashing(secret: Secret): (owned: OwnedKey) => string {
  const stored = remember(keysKept, (text) =>
    keyed(secret, 'idempotency key', text).slice(0, keyLength),
  )
  return ({ space, key }) => (timedKey.exec(key)?.[1] ?? '') + stored(JSON.stringify([space, key]))
}

/** The form in which the journal stores a request's fingerprint. */
export function fingerprintHash(secret: Secret, fingerprint: string): string {
  return keyed(secret, 'fingerprint', fingerprint).slice(0, keyLength)
}

/** The form in which the journal stores, for an hour, which client has made a tab. */
export function clientDigest(client: string): string {
  return hash('sha256', client, 'base64')
}

/** As `Journal.keyFor` of the site with this name. */
export function keyFor(secret: Secret, site: string, use: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(keyed(secret, 'key', JSON.stringify([site, use])), 'base64'))
}

function keyed(secret: Secret, kind: string, text: string): string {
  return createHmac('sha256', secret).update(`${kind}\n${text}`).digest('base64')
}
