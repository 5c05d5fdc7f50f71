import { expect, test } from 'vitest'

import { patienceOf } from './waiting.ts'

const secondsOf = (headers: Headers) =>
  patienceOf({ headers, signal: new AbortController().signal }, { elapsed: () => 0 })?.seconds

test.each([
  ['wait=1', 1],
  ['wait=30', 30],
  ['wait=31', 30],
  ['WAIT=5', 5],
  ['wait="5"', 5],
  ['wait=05', 5],
  ['wait=5; note="a, b"', 5],
  ['respond-async, wait=5', 5],
  ['respond-async;wait=9, wait=5', 5],
  ['handling=lenient,wait=5,return=minimal', 5],
  ['wait=5, wait=10', 5],
  ['', undefined],
  ['wait', undefined],
  ['wait=0', undefined],
  ['wait=0x5', undefined],
  ['wait=five, wait=5', undefined],
  ['awaits=5', undefined],
  ['x="wait=5"', undefined],
])('Prefer: %s asks for a wait of %s seconds', (prefer, seconds) => {
  expect(secondsOf(new Headers({ prefer }))).toBe(seconds)
})

test('several Prefer headers are read as one', () => {
  const headers = new Headers([
    ['prefer', 'respond-async'],
    ['prefer', 'wait=7'],
  ])
  expect(secondsOf(headers)).toBe(7)
  expect(secondsOf(new Headers())).toBeUndefined()
})
