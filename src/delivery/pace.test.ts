import fc from 'fast-check'
import { expect, test } from 'vitest'

import { batchBucket, refilled, type Tokens, waitBeforeCall, waitForToken } from './pace.ts'

const minute = 60_000
const day = 24 * 60 * minute

test('a call goes at once while both windows have room', () => {
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

test('no window of a minute and none of a day ever holds more than its quota, wherever it begins', () => {
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

test('the batches of a busy day leave a fifth of the calls for reads, confirmations and pruning', () => {
  const bucket = batchBucket({ perMinute: 50, perDay: 10_000 })
  expect(bucket.capacity + day / bucket.refillMs).toBeLessThanOrEqual(8000)
})

test('no quarter of an hour holds more batches than markers may stand in the spreadsheet', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (perDay) => {
      const { capacity, refillMs } = batchBucket({ perMinute: 50, perDay })
      return capacity + (15 * minute) / refillMs <= 100
    }),
  )
})

test('the bucket lets a burst go at once and then one batch every refill', () => {
  const bucket = { capacity: 3, refillMs: 10_000 }
  let tokens: Tokens = { count: 3, at: 0 }
  let now = 0
  const sent: number[] = []
  for (let batch = 0; batch < 6; batch++) {
    now += waitForToken(tokens, bucket, now)
    const { count, at } = refilled(tokens, bucket, now)
    tokens = { count: count - 1, at }
    sent.push(now)
  }
  expect(sent).toEqual([0, 0, 0, 10_000, 20_000, 30_000])
})

test('after a long pause the bucket is full, not more', () => {
  const bucket = { capacity: 3, refillMs: 10_000 }
  expect(refilled({ count: 0, at: 0 }, bucket, day)).toEqual({ count: 3, at: day })
})
