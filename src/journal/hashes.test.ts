import { expect, test } from 'vitest'
import { addressHash, clientDigest, fingerprintHash, keyHashing } from './hashes.ts'

const secret = '0123456789abcdef'.repeat(4)

// Journals have such hashes: with others, nobody would be known as forgotten, and no key as used.
test('an address, a key, a fingerprint and a client have the hashes that journals have of them', () => {
  expect(addressHash(secret, 'Ada@Example.com')).toBe(
    'VJvvWk/o73UwULOd+VvyeAo2AQOeEWKA5iWz25iK0HU=',
  )
  expect(keyHashing(secret)({ space: 'api', key: 'k-1' })).toBe(
    'YsvP2BfZ6GZP7oGXOF4+BdoBJ2T2s62IqXzLb8ZLYRY=',
  )
  expect(fingerprintHash(secret, '{}')).toBe('gufoR6GHULyX9V0piN18eZ8Jm1/uKY0rCRMDGIeVlik=')
  expect(clientDigest('192.0.2.7')).toBe('N9rWd88LOZfQ9d0NeIn4SxEALjynOwrhvbbX6bRv24o=')
})

test('an address has one hash in all letter cases', () => {
  expect(addressHash(secret, 'ADA@EXAMPLE.COM')).toBe(addressHash(secret, 'ada@example.com'))
})
