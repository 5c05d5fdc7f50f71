import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import type { CallLedger } from '../journal/contracts/call-ledger.ts'
import { CallTurns } from './call-turns.ts'

const minute = 60_000
const quota = { perMinute: 50, perDay: 10_000 }

/** The turns of two sites. The ledger answers as told. */
function turnsOf(clock: ManualClock, reserve: CallLedger['reserve']) {
  const turns = new CallTurns({ ledger: { reserve }, quota, clock, sites: 2 })
  return [turns.join(), turns.join()] as const
}

test('when nobody waits for a call any more, nothing sleeps on', async () => {
  const clock = new ManualClock()
  const [first, second] = turnsOf(clock, () => Promise.resolve(minute))
  const stop = new AbortController()
  const waiting = Promise.allSettled([first(stop.signal), second(stop.signal)])
  await clock.run(1)
  expect(clock.sleeping).toBe(1)
  stop.abort(new Error('stopping'))
  expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await clock.run(0)
  expect(clock.sleeping).toBe(0)
})

test('of two that had as many calls, the one whose last call is older gets the next', async () => {
  const clock = new ManualClock()
  const [first, second] = turnsOf(clock, () => Promise.resolve(0))
  const { signal } = new AbortController()
  for (const ask of [first, second]) {
    const asked = ask(signal)
    await clock.run(2_000)
    await asked
  }
  const given: string[] = []
  const both = [
    second(signal).then(() => given.push('second')),
    first(signal).then(() => given.push('first')),
  ]
  await clock.run(10_000)
  await Promise.all(both)
  expect(given).toEqual(['first', 'second'])
})

test('a ledger that fails ends the wait of all, and the next call asks it again', async () => {
  const clock = new ManualClock()
  let asked = 0
  const [first, second] = turnsOf(clock, async () => {
    asked += 1
    if (asked === 1) throw new Error('disk full')
    return 0
  })
  const { signal } = new AbortController()
  const [one, other] = await Promise.allSettled([first(signal), second(signal)])
  expect([one.status, other.status]).toEqual(['rejected', 'rejected'])
  expect(await second(signal)).toBe(0)
})

/** Calls for one site without a rest. Returns how many calls it got before it had to wait. */
async function callsAtOnce(perMinute: number, sites: number): Promise<number> {
  const clock = new ManualClock()
  const ledger = { reserve: () => Promise.resolve(0) }
  const next = new CallTurns({ ledger, quota: { perMinute, perDay: 10_000 }, clock, sites }).join()
  const stop = new AbortController()
  let calls = 0
  const calling = (async () => {
    for (;;) {
      await next(stop.signal)
      calls += 1
    }
  })().catch(() => undefined)
  await clock.run(0)
  stop.abort()
  await calling
  return calls
}

test.each([
  { perMinute: 60, sites: 3, share: 20 },
  { perMinute: 50, sites: 20, share: 3 },
  { perMinute: 50, sites: 200, share: 1 },
])(
  'a site gets its share of $share calls and one more before it has to wait: $perMinute for $sites sites',
  async ({ perMinute, sites, share }) => {
    expect(await callsAtOnce(perMinute, sites)).toBe(share + 1)
  },
)

test.each([1, 3])('20,000 calls leave nothing in memory, with %i sites', async (sites) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let elapsed = 0
  const clock = { elapsed: () => elapsed, sleep: async (ms: number) => void (elapsed += ms) }
  const ledger = { reserve: () => Promise.resolve(0) }
  const next = new CallTurns({ ledger, quota, clock, sites }).join()
  const { signal } = new AbortController()
  const bytesAfter = async (calls: number) => {
    for (let call = 0; call < calls; call++) {
      elapsed += minute / quota.perMinute
      await next(signal)
    }
    collect()
    return process.memoryUsage().heapUsed
  }
  const growths: number[] = []
  for (let before = await bytesAfter(2_000); growths.length < 3;) {
    const after = await bytesAfter(20_000)
    growths.push(after - before)
    before = after
  }
  // A number takes 8 bytes or more. What the engine itself keeps, it keeps once.
  expect(Math.min(...growths)).toBeLessThan(20_000 * 8)
})

test('half of a minute’s calls come at once, others keep a distance, and a minute later half of them again', async () => {
  const clock = new ManualClock()
  const ledger = { reserve: () => Promise.resolve(0) }
  const options = { ledger, quota: { perMinute: 10, perDay: 10_000 }, clock, sites: 10 }
  const turns = new CallTurns(options)
  const sites = Array.from({ length: 10 }, () => turns.join())
  const callsAtOnce = async () => {
    const stop = new AbortController()
    let calls = 0
    const asked = sites.map((next) => next(stop.signal).then(() => (calls += 1)))
    await clock.run(0)
    stop.abort(new Error('asked'))
    await Promise.allSettled(asked)
    return calls
  }
  expect(await callsAtOnce()).toBe(5)
  await clock.run(minute)
  expect(await callsAtOnce()).toBe(5)
})
