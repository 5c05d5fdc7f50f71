import { expect, test } from 'vitest'

import { ApiKeys } from './api-keys.ts'

let refused = 0
const keys = new ApiKeys(['first-key', 'second-key'], () => refused++)
const areIn = (authorization: string) => keys.areIn(new Headers({ authorization }))

test.each(['Bearer first-key', 'Bearer second-key', 'bearer first-key', 'BEARER  second-key'])(
  'Authorization: %s is let in',
  (authorization) => {
    expect(areIn(authorization)).toBe(true)
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
  'Bearerfirst-key',
])('Authorization: %s is kept out', (authorization) => {
  expect(areIn(authorization)).toBe(false)
})

test('without any header nobody is let in, and without keys none is needed', () => {
  expect(keys.areIn(new Headers())).toBe(false)
  expect(keys.areSet).toBe(true)
  expect(new ApiKeys([], () => {}).areSet).toBe(false)
  expect(new ApiKeys([], () => {}).areIn(new Headers({ authorization: 'Bearer ' }))).toBe(false)
})

test('a wrong key is counted, and a request without one is not', () => {
  refused = 0
  areIn('Bearer third-key')
  areIn('Bearer first-key')
  areIn('Basic first-key')
  keys.areIn(new Headers())
  expect(refused).toBe(1)
})
