import { expect, test } from 'vitest'

import { backoffMs, blockedRetryMs } from './backoff.ts'

test('backoff doubles its ceiling up to 64 s, with full jitter below it', () => {
  const ceilings = Array.from({ length: 9 }, (_, index) => backoffMs(index + 1, undefined, () => 1))
  expect(ceilings).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64].map((seconds) => seconds * 1000))
  expect(backoffMs(5, undefined, () => 0)).toBe(0)
  expect(backoffMs(5, undefined, () => 0.25)).toBe(4000)
})

test('backoff is never shorter than the pause that the provider asked for', () => {
  expect(backoffMs(1, 30_000, () => 0.5)).toBe(30_000)
  expect(backoffMs(7, 1000, () => 1)).toBe(64_000)
})

test('only the first retry can be immediate', () => {
  expect(backoffMs(1, 0, () => 1)).toBe(0)
  expect(backoffMs(2, 0, () => 1)).toBe(2000)
})

test('blocked delivery is tried after 5 s, then at least every 30 s, and after an hour every 5 minutes', () => {
  const tries: number[] = []
  let at = 0
  for (let attempt = 1; at < 2 * 3_600_000; attempt++) {
    const wait = blockedRetryMs(attempt, at)
    tries.push(wait)
    at += wait
  }
  expect(tries.slice(0, 5)).toEqual([5000, 10_000, 20_000, 30_000, 30_000])
  expect(tries.at(-1)).toBe(300_000)
  expect([blockedRetryMs(9, 3_599_999), blockedRetryMs(9, 3_600_000)]).toEqual([30_000, 300_000])
  expect(new Set(tries)).toEqual(new Set([5000, 10_000, 20_000, 30_000, 300_000]))
})
