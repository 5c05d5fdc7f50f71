import fc from 'fast-check'
import { expect, test } from 'vitest'

import { batchBucket, taken, type Tokens, waitForToken } from './pace.ts'

const minute = 60_000
const day = 24 * 60 * minute

test('the batches of a busy day leave a fifth of the calls for reads, confirmations and pruning', () => {
  const bucket = batchBucket({ perMinute: 50, perDay: 10_000 })
  expect(bucket.capacity + day / bucket.refillMs).toBeLessThanOrEqual(8000)
})

test.each([
  { perDay: 1, capacity: 1, refillMs: 1.25 * day },
  { perDay: 19, capacity: 1, refillMs: day / (19 * 0.8) },
  { perDay: 100, capacity: 10, refillMs: day / 80 },
  { perDay: 1000, capacity: 15, refillMs: day / 800 },
  { perDay: 9000, capacity: 15, refillMs: 12_000 },
  { perDay: 1_000_000, capacity: 15, refillMs: 12_000 },
])('with $perDay calls a day, batches go at this pace', ({ perDay, ...bucket }) => {
  expect(batchBucket({ perMinute: 50, perDay })).toEqual(bucket)
})

test('no quarter of an hour has more batches than the spreadsheet may have markers', () => {
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
    tokens = taken(tokens, bucket, now)
    sent.push(now)
  }
  expect(sent).toEqual([0, 0, 0, 10_000, 20_000, 30_000])
})

test('after a long pause the bucket is full and not more than full', () => {
  const bucket = { capacity: 3, refillMs: 10_000 }
  expect(taken({ count: 0, at: 0 }, bucket, day)).toEqual({ count: 2, at: day })
})
