import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Account, type BatchAllowance, batchPace } from './account.ts'
import { day, minute } from '../platform/clock.ts'

const quota = { perMinute: 50, perDay: 10_000 }
const { capacity, refillMs } = batchPace(quota, 1)
const always = () => true

class StillClock {
  now = 0
  elapsed = () => this.now
  sleep = async () => undefined
}

/** When sites with one account may send batches. The ledger always has a call. */
function allowancesOf(clock: StillClock, sites: number) {
  const account = new Account({ ledger: { reserve: async () => 0 }, quota, clock, sites })
  return (delivers = always) => account.join(delivers).allowance
}

/** Takes `count` tokens, each as soon as it can. Returns when it took them. */
function takeSoon(tokens: BatchAllowance, clock: StillClock, count: number): number[] {
  const taken: number[] = []
  while (taken.length < count) {
    clock.now += tokens.wait()
    tokens.take()
    taken.push(clock.now)
  }
  return taken
}

test('one site may send a burst at once and then one batch every refill, and no more after a long rest', () => {
  const clock = new StillClock()
  const tokens = allowancesOf(clock, 1)()
  for (const begun of [0, day]) {
    clock.now = begun
    const taken = takeSoon(tokens, clock, capacity + 2).map((at) => at - begun)
    expect(taken.slice(capacity - 1)).toEqual([0, refillMs, 2 * refillMs])
  }
})

/** Sites that share tokens, the first ones busy for a day. Returns how many tokens each of them took. */
function busyDay(sites: number, busy: number, delivers = always): number[] {
  const clock = new StillClock()
  const join = allowancesOf(clock, sites)
  const all = Array.from({ length: sites }, (_, at) => join(at < busy ? always : delivers))
  const taken = Array.from({ length: busy }, () => 0)
  while (clock.now < day) {
    for (const at of taken.keys()) {
      if (all[at]?.wait() !== 0) continue
      all[at].take()
      taken[at] = (taken[at] ?? 0) + 1
    }
    clock.now += 1000
  }
  expect(all.slice(busy).map((quiet) => quiet.wait())).toEqual(Array(sites - busy).fill(0))
  return taken
}

const perDay = day / refillMs

test('one busy site beside quiet ones gets nearly all tokens, and each quiet one finds its own', () => {
  const [taken = 0] = busyDay(20, 1)
  expect(taken).toBeGreaterThan(0.95 * perDay)
  expect(taken).toBeLessThanOrEqual(perDay + capacity + 1)
})

test('busy sites get equal parts, and all together no more than the account has', () => {
  const taken = busyDay(20, 20)
  expect(Math.max(...taken) - Math.min(...taken)).toBeLessThanOrEqual(1)
  const sum = taken.reduce((total, count) => total + count, 0)
  expect(sum).toBeGreaterThan(0.95 * perDay)
  expect(sum).toBeLessThanOrEqual(perDay + 20 * capacity)
})

test('tokens of a site for which another instance delivers are left to that instance', () => {
  const [taken = 0] = busyDay(20, 1, () => false)
  expect(taken).toBeGreaterThan(perDay / 20)
  expect(taken).toBeLessThanOrEqual(perDay / 20 + capacity + 1)
})

test('a quiet site sends at once, however many batches a busy one wants to send', () => {
  const clock = new StillClock()
  const join = allowancesOf(clock, 2)
  const [busy, quiet] = [join(), join()]
  takeSoon(busy, clock, 100)
  expect(takeSoon(quiet, clock, capacity).at(-1)).toBe(clock.now)
  // What the quiet one took is missing to the busy one, which has its own part alone for a while.
  const [first = 0, ...more] = takeSoon(busy, clock, 5)
  expect(more.map((at) => at - first)).toEqual([2, 4, 6, 8].map((refills) => refills * refillMs))
})

test('each of many sites may begin with fewer batches', () => {
  expect(batchPace({ perMinute: 50, perDay: 1000 }, 10).capacity).toBe(10)
  expect(batchPace({ perMinute: 50, perDay: 1000 }, 1000).capacity).toBe(1)
})

test('the batches of a busy day leave a fifth of the calls for reads, confirmations and pruning', () => {
  const bucket = batchPace({ perMinute: 50, perDay: 10_000 }, 1)
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
  expect(batchPace({ perMinute: 50, perDay }, 1)).toEqual(bucket)
})

test('no quarter of an hour has more batches than the spreadsheet may have markers', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (perDay) => {
      const { capacity, refillMs } = batchPace({ perMinute: 50, perDay }, 1)
      return capacity + (15 * minute) / refillMs <= 100
    }),
  )
})
