import fc from 'fast-check'
import { expect, test } from 'vitest'

import { waitBeforeCall } from './call-ledger.ts'
import { day, minute } from '../../platform/clock.ts'

test('a call need not wait while both windows have room', () => {
  expect(waitBeforeCall([], { perMinute: 2, perDay: 3 }, 1000)).toBe(0)
  expect(waitBeforeCall([0], { perMinute: 2, perDay: 3 }, 1000)).toBe(0)
})

test('a full minute makes the next call wait until its first one is a minute and a second old', () => {
  expect(waitBeforeCall([0, 10_000], { perMinute: 2, perDay: 100 }, 20_000)).toBe(41_000)
})

test('a full day makes the next call wait until its first one is a day and a second old', () => {
  expect(waitBeforeCall([0, minute * 5], { perMinute: 9, perDay: 2 }, 3 * minute * 5)).toBe(
    day + 1000 - 3 * minute * 5,
  )
})

test('no minute and no day, wherever it begins, has more calls than the quota', () => {
  const quotas = fc.record({
    perMinute: fc.integer({ min: 1, max: 20 }),
    perDay: fc.integer({ min: 1, max: 60 }),
  })
  const gaps = fc.array(fc.oneof(fc.nat(2000), fc.nat(minute), fc.nat(day)), { maxLength: 200 })
  fc.assert(
    fc.property(quotas, gaps, (quota, pauses) => {
      const calls: number[] = []
      let now = 0
      for (const pause of pauses) {
        now += pause
        now += waitBeforeCall(calls, quota, now)
        calls.push(now)
      }
      const fits = (length: number, max: number) =>
        calls.every(
          (at) => calls.filter((other) => other >= at && other < at + length).length <= max,
        )
      return fits(minute, quota.perMinute) && fits(day, quota.perDay)
    }),
  )
})
