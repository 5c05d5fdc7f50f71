import { expect, test } from 'vitest'
import { addressHash, clientDigest, fingerprintHash, keyHashing } from './hashes.ts'

const secret = '0123456789abcdef'.repeat(4)

// Journals have such hashes: with others, nobody would be known as forgotten, and no key as used.
test('an address, a key, a fingerprint and a client have the hashes that journals have of them', () => {
  expect(addressHash(secret, 'Ada@Example.com')).toBe(
    'VJvvWk/o73UwULOd+VvyeAo2AQOeEWKA5iWz25iK0HU=',
  )
  expect(keyHashing(secret)({ space: 'api', key: 'k-1' })).toBe('YsvP2BfZ6GZP7oGXOF4+Bd')
  expect(fingerprintHash(secret, '{}')).toBe('gufoR6GHULyX9V0piN18eZ')
  expect(clientDigest('192.0.2.7')).toBe('N9rWd88LOZfQ9d0NeIn4SxEALjynOwrhvbbX6bRv24o=')
})

test('the time of a key that we made is first, and no other part of any key is there', () => {
  const stored = (key: string) => keyHashing(secret)({ space: 'api', key })
  expect(stored('1795960000123-1-22-4294967295-0')).toMatch(/^1795960000123[\w+/]{22}$/)
  expect(stored('1795960000123-1-22-4294967295-1')).not.toBe(
    stored('1795960000123-1-22-4294967295-0'),
  )
  for (const key of ['1795960000123', '1795960000123-1-2-3', 'a1795960000123-1-2-3-4']) {
    expect(stored(key)).toMatch(/^[\w+/]{22}$/)
  }
})

test('an address has one hash in all letter cases', () => {
  expect(addressHash(secret, 'ADA@EXAMPLE.COM')).toBe(addressHash(secret, 'ada@example.com'))
})
