import { expect, test } from 'vitest'

import { ApiKeys } from './api-keys.ts'

let refused = 0
const keys = new ApiKeys(['first-key', 'second-key'], () => refused++)
const digestIn = (authorization: string) =>
  keys.digestIn({ request: { headers: new Headers({ authorization }) } })

test.each(['Bearer first-key', 'Bearer second-key', 'bearer first-key', 'BEARER  second-key'])(
  'Authorization: %s is let in',
  (authorization) => {
    expect(digestIn(authorization)).toMatch(/^[\w+/]{43}=$/)
  },
)

test.each([
  'Bearer first-ke',
  'Bearer first-key2',
  'Bearer FIRST-KEY',
  'Bearer first-key, second-key',
  'Bearer first-key second-key',
  'Bearer',
  'Bearer ',
  'first-key',
  'Basic first-key',
  'Basic bearer first-key',
  'Bearerfirst-key',
])('Authorization: %s is kept out', (authorization) => {
  expect(digestIn(authorization)).toBeUndefined()
})

test('a request without the header is not let in, and a service without keys needs none', () => {
  expect(keys.digestIn({ request: { headers: new Headers() } })).toBeUndefined()
  expect(keys.areSet).toBe(true)
  expect(new ApiKeys([], () => {}).areSet).toBe(false)
  expect(
    new ApiKeys([], () => {}).digestIn({
      request: { headers: new Headers({ authorization: 'Bearer ' }) },
    }),
  ).toBeUndefined()
})

test('a wrong key is counted, and a request without one is not', () => {
  refused = 0
  digestIn('Bearer third-key')
  digestIn('Bearer first-key')
  digestIn('Basic first-key')
  keys.digestIn({ request: { headers: new Headers() } })
  expect(refused).toBe(1)
})
