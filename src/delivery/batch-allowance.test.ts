import fc from 'fast-check'
import { expect, test } from 'vitest'

import { AccountAllowance, type BatchAllowance, batchBucket } from './batch-allowance.ts'

const bucket = { capacity: 3, refillMs: 10_000 }
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const always = () => true

class StillClock {
  now = 0
  elapsed = () => this.now
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

test('the bucket of one site lets a burst go at once and then one batch every refill', () => {
  const clock = new StillClock()
  const tokens = new AccountAllowance(bucket, 1, clock).join(always)
  expect(takeSoon(tokens, clock, 6)).toEqual([0, 0, 0, 10_000, 20_000, 30_000])
})

test('after a long pause the bucket is full and not more than full', () => {
  const clock = new StillClock()
  const tokens = new AccountAllowance(bucket, 1, clock).join(always)
  clock.now += 24 * hour
  expect(takeSoon(tokens, clock, 4).map((at) => at - 24 * hour)).toEqual([0, 0, 0, 10_000])
})

/** Sites that share tokens, the first ones busy for a day. Returns how many tokens each of them took. */
function busyDay(sites: number, busy: number, isHere = always): number[] {
  const clock = new StillClock()
  const shared = new AccountAllowance(bucket, sites, clock)
  const all = Array.from({ length: sites }, (_, at) => shared.join(at < busy ? always : isHere))
  const taken = Array.from({ length: busy }, () => 0)
  while (clock.now < 24 * hour) {
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

const perDay = (24 * hour) / bucket.refillMs

test('one busy site beside quiet ones gets nearly all tokens, and each quiet one finds its own', () => {
  const [taken = 0] = busyDay(20, 1)
  expect(taken).toBeGreaterThan(0.95 * perDay)
  expect(taken).toBeLessThanOrEqual(perDay + bucket.capacity)
})

test('busy sites get equal parts, and all together no more than the account has', () => {
  const taken = busyDay(20, 20)
  expect(Math.max(...taken) - Math.min(...taken)).toBeLessThanOrEqual(1)
  const sum = taken.reduce((total, count) => total + count, 0)
  expect(sum).toBeGreaterThan(0.95 * perDay)
  expect(sum).toBeLessThanOrEqual(perDay + 20 * bucket.capacity)
})

test('tokens of a site for which another instance delivers are given away by that instance only', () => {
  const [taken = 0] = busyDay(20, 1, () => false)
  expect(taken).toBeGreaterThan(perDay / 20)
  expect(taken).toBeLessThanOrEqual(perDay / 20 + bucket.capacity)
})

test('what quiet sites leave for hours lets a busy one begin with one batch more, not with hundreds', () => {
  const clock = new StillClock()
  const shared = new AccountAllowance(bucket, 20, clock)
  const [busy = expect.fail()] = Array.from({ length: 20 }, () => shared.join(always))
  for (let hours = 0; hours < 10; hours++) {
    clock.now += hour
    busy.wait()
  }
  const before = clock.now
  const taken = takeSoon(busy, clock, 5).map((at) => at - before)
  expect(taken.slice(0, 4)).toEqual([0, 0, 0, 0])
  expect(taken[4]).toBeGreaterThan(0)
})

/** Two sites. Each refills in 20 s. */
function twoSites() {
  const clock = new StillClock()
  const shared = new AccountAllowance(bucket, 2, clock)
  return { clock, busy: shared.join(always), quiet: shared.join(always) }
}

test('a site waits for its own token, or for the one that a full site gives away', () => {
  const { clock, busy, quiet } = twoSites()
  takeSoon(busy, clock, 3)
  // Both refill in 20 s, and the quiet one is full: what it gains is to give away.
  expect(busy.wait()).toBe(20_000)
  clock.now += 15_000
  expect(busy.wait()).toBe(5_000)
  clock.now += 4_999
  expect(busy.wait()).toBe(1)
  clock.now += 1
  expect(busy.wait()).toBe(0)
  busy.take()
  // Either its own token or the one given away is still there.
  expect(busy.wait()).toBe(0)
  busy.take()
  expect(busy.wait()).toBe(20_000)
  quiet.take()
  // Nobody is full now.
  expect(busy.wait()).toBe(20_000)
  expect(quiet.wait()).toBe(0)
})

test('two full sites give a token away in half the time of one', () => {
  const clock = new StillClock()
  const shared = new AccountAllowance(bucket, 3, clock)
  const [busy = expect.fail()] = Array.from({ length: 3 }, () => shared.join(always))
  takeSoon(busy, clock, 3)
  expect(busy.wait()).toBe(15_000)
  clock.now += 5_000
  expect(busy.wait()).toBeCloseTo(10_000, -1)
})

test('a token that was given away is taken before its own debt grows, and only once', () => {
  const { clock, busy, quiet } = twoSites()
  takeSoon(quiet, clock, 2)
  takeSoon(busy, clock, 3)
  expect(quiet.wait()).toBe(0)
  quiet.take()
  expect([busy.wait(), quiet.wait()]).toEqual([20_000, 20_000])
  clock.now += 20_000
  expect([busy.wait(), quiet.wait()]).toEqual([0, 0])
  busy.take()
  expect([busy.wait(), quiet.wait()]).toEqual([20_000, 0])
})

test('a site takes its own token before one that was given away', () => {
  const clock = new StillClock()
  const shared = new AccountAllowance(bucket, 3, clock)
  const [first = expect.fail(), second = expect.fail()] = Array.from({ length: 3 }, () =>
    shared.join(always),
  )
  for (const site of [first, second]) takeSoon(site, clock, 3)
  clock.now += 30_000
  first.take()
  expect(second.wait()).toBe(0)
  second.take()
  expect([first.wait(), second.wait()]).toEqual([0, 0])
  second.take()
  expect([first.wait(), second.wait()]).toEqual([30_000, 30_000])
})

test('a site waits for the rest of its own token while no site is full', () => {
  const { clock, busy, quiet } = twoSites()
  takeSoon(busy, clock, 3)
  quiet.take()
  clock.now += 15_000
  expect(busy.wait()).toBe(5_000)
})

test('a full bucket gains nothing before its next token is taken', () => {
  const clock = new StillClock()
  const tokens = new AccountAllowance(bucket, 1, clock).join(always)
  clock.now += 10_000
  tokens.take()
  expect(takeSoon(tokens, clock, 3)).toEqual([10_000, 10_000, 20_000])
})

test('each of many sites may begin with fewer batches', () => {
  expect(batchBucket({ perMinute: 50, perDay: 1000 }, 10).capacity).toBe(10)
  expect(batchBucket({ perMinute: 50, perDay: 1000 }, 1000).capacity).toBe(1)
})

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
