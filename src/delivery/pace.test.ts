import fc from 'fast-check'
import { expect, test } from 'vitest'

import { batchBucket } from './pace.ts'

const minute = 60_000
const day = 24 * 60 * minute

test('the batches of a busy day leave a fifth of the calls for reads, confirmations and pruning', () => {
  const bucket = batchBucket({ perMinute: 50, perDay: 10_000 }, 1)
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
  expect(batchBucket({ perMinute: 50, perDay }, 1)).toEqual(bucket)
})

test('no quarter of an hour has more batches than the spreadsheet may have markers', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (perDay) => {
      const { capacity, refillMs } = batchBucket({ perMinute: 50, perDay }, 1)
      return capacity + (15 * minute) / refillMs <= 100
    }),
  )
})
