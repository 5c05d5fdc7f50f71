import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RateLimit } from './rate-limit.ts'

const policy = 'signups'

class HandClock {
  ms = 0
  elapsed() {
    return this.ms
  }
}

test('signups are taken up to the limit; the next one gets a time to wait, and fits after it', () => {
  const clock = new HandClock()
  const limit = new RateLimit({ policy, perMinute: 3, clock })
  expect(limit.take('a', 1)).toMatchObject({ isTaken: true, remaining: 2 })
  clock.ms = 20_000
  expect(limit.take('a', 2)).toMatchObject({ isTaken: true, remaining: 0 })
  const refused = limit.take('a', 1)
  expect(refused).toEqual({ policy, isTaken: false, limit: 3, remaining: 0, waitMs: 40_000 })
  clock.ms += refused.waitMs
  expect(limit.take('a', 1)).toMatchObject({ isTaken: true, remaining: 0 })
})

test('each signup tells when as many expire as are needed for it or for the next one', () => {
  const clock = new HandClock()
  const limit = new RateLimit({ policy, perMinute: 3, clock })
  expect(limit.take('a', 1)).toMatchObject({ limit: 3, remaining: 2, waitMs: 60_000 })
  clock.ms = 20_000
  expect(limit.take('a', 1)).toMatchObject({ limit: 3, remaining: 1, waitMs: 40_000 })
  clock.ms = 30_000
  expect(limit.take('a', 2)).toMatchObject({ isTaken: false, remaining: 1, waitMs: 30_000 })
  clock.ms = 60_000
  expect(limit.take('a', 1)).toMatchObject({ limit: 3, remaining: 1, waitMs: 20_000 })
})

test('signups of one second expire together, a minute after the last of them', () => {
  const clock = new HandClock()
  const limit = new RateLimit({ policy, perMinute: 3, clock })
  for (const ms of [1_100, 1_999, 2_000]) {
    clock.ms = ms
    limit.take('a', 1)
  }
  clock.ms = 61_500
  expect(limit.take('a', 1)).toMatchObject({ isTaken: false, waitMs: 499 })
  clock.ms = 61_999
  expect(limit.take('a', 2)).toMatchObject({ isTaken: true, remaining: 0, waitMs: 1 })
})

test('a request with more signups than the limit is told to wait a whole minute', () => {
  const limit = new RateLimit({ policy, perMinute: 3, clock: new HandClock() })
  expect(limit.take('a', 4)).toMatchObject({ isTaken: false, remaining: 3, waitMs: 60_000 })
})

test('an address is forgotten a minute after its last signup, and no earlier', () => {
  const clock = new HandClock()
  const limit = new RateLimit({ policy, perMinute: 2, clock })
  const takeAt = (ms: number, address: string) => {
    clock.ms = ms
    return limit.take(address, 1)
  }
  takeAt(0, 'returns')
  takeAt(1_000, 'leaves')
  takeAt(50_000, 'returns')
  takeAt(60_999, 'late')
  expect(limit.size).toBe(3)
  takeAt(61_000, 'late')
  expect(limit.size).toBe(2)
  expect(takeAt(61_000, 'returns')).toMatchObject({ isTaken: true, remaining: 0 })
})

test('an address is spent while no more signup fits, and asking for that does not count', () => {
  const clock = new HandClock()
  const limit = new RateLimit({ policy, perMinute: 2, clock })
  expect(limit.isSpent('a')).toBe(false)
  limit.take('a', 1)
  expect(limit.isSpent('a')).toBe(false)
  clock.ms = 30_000
  limit.take('a', 1)
  expect([limit.isSpent('a'), limit.isSpent('b')]).toEqual([true, false])
  clock.ms = 59_999
  expect(limit.isSpent('a')).toBe(true)
  clock.ms = 60_000
  expect(limit.isSpent('a')).toBe(false)
})

test('no 60 seconds have more signups than the limit, and a client that waits as told is taken', () => {
  const steps = fc.array(
    fc.record({ pauseMs: fc.nat(20_000), count: fc.integer({ min: 1, max: 6 }) }),
    {
      maxLength: 60,
    },
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), steps, (perMinute, given) => {
      const clock = new HandClock()
      const limit = new RateLimit({ policy, perMinute, clock })
      const taken: { at: number; count: number }[] = []
      const take = (count: number) => {
        const allowance = limit.take('a', count)
        expect(allowance.waitMs).toBeLessThanOrEqual(60_000)
        if (allowance.isTaken) taken.push({ at: clock.ms, count })
        return allowance
      }
      for (const { pauseMs, count } of given) {
        clock.ms += pauseMs
        const { isTaken, waitMs } = take(count)
        if (isTaken || count > perMinute) continue
        clock.ms += waitMs
        expect(take(count).isTaken).toBe(true)
      }
      for (const { at } of taken) {
        const inWindow = taken.filter((one) => one.at >= at && one.at < at + 60_000)
        expect(inWindow.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(perMinute)
      }
    }),
  )
})

test('a flood of addresses takes bounded memory, resets no count and causes no refusal', () => {
  const clock = new HandClock()
  const limit = new RateLimit({ policy, perMinute: 1, clock, addressesMax: 100 })
  expect(limit.take('victim', 1)).toMatchObject({ isTaken: true })
  for (let index = 0; index < 1_000; index++) {
    expect(limit.take(`flood ${index}`, 1)).toMatchObject({ isTaken: true })
  }
  expect(limit.size).toBe(100)
  expect(limit.take('victim', 1)).toMatchObject({ isTaken: false })
  clock.ms += 61_000
  expect(limit.take('newcomer', 1)).toMatchObject({ isTaken: true })
  expect(limit.size).toBe(1)
})
