import { makeSignup } from '../../../harness/make-signup.ts'
import { ManualClock } from '../../../harness/manual-clock.ts'
import { expect } from 'vitest'

import type { CallLedger, CallUse, Quota } from '../../../src/journal/contracts/call-ledger.ts'
import { type ContractTest, inTwo } from './contract.ts'
import { ada, deliver, forget } from './erasure-contract.ts'

const minute = 60_000
const account = 'robot@example.com'
const quota: Quota = { perMinute: 3, perDay: 5 }

/** Reserves calls at the ledgers in turn until `count` were let through. Returns when each was, in seconds. */
async function callByTurns(
  ledgers: readonly CallLedger[],
  clock: ManualClock,
  count: number,
): Promise<number[]> {
  const passed: number[] = []
  for (let turn = 0; passed.length < count; turn++) {
    const wait = await ledgers[turn % ledgers.length]?.reserve(quota)
    if (wait === 0) passed.push(Math.round(clock.elapsed() / 1000))
    else await clock.run(wait ?? 0)
  }
  return passed
}

/** Limits for the calls of one account, whichever process makes them. */
export const callLedgerTests: readonly ContractTest[] = [
  {
    title: 'two processes together stay within the quota of a minute and of a day',
    run: inTwo(async (one, other) => {
      const clock = new ManualClock()
      const ledgers = [one.callLedger(account, clock), other.callLedger(account, clock)]
      expect(await callByTurns(ledgers, clock, 6)).toEqual([0, 0, 0, 61, 61, 86_401])
    }),
  },

  {
    title: 'a call of another process counts from the time at which it was made',
    run: inTwo(async (one, other) => {
      const clock = new ManualClock()
      const [first, second] = [one.callLedger(account, clock), other.callLedger(account, clock)]
      expect(await first.reserve(quota)).toBe(0)
      expect(await second.reserve(quota)).toBe(0)
      await clock.run(10_000)
      expect(await first.reserve(quota)).toBe(0)
      await clock.run(20_000)
      expect(await second.reserve(quota)).toBe(31_000)
      await clock.run(31_000)
      expect(await callByTurns([second], clock, 2)).toEqual([61, 61])
      expect(await second.reserve({ ...quota, perDay: 9 }), 'after the one at 10 s').toBe(10_000)
    }),
  },

  {
    title: 'a call of which nobody is sure when it was made counts as the last one',
    run: inTwo(async (one, other) => {
      const wide = { perMinute: 9, perDay: 99 }
      const clock = new ManualClock()
      let offMs = 0
      const unsure = { now: () => clock.now() + offMs, elapsed: () => clock.elapsed() }
      const mine = one.callLedger(account, clock)
      const ofUnsure = other.callLedger(account, unsure)
      const ofSure = other.callLedger(account, clock)
      for (const ledger of [mine, ofUnsure, ofSure]) expect(await ledger.reserve(wide)).toBe(0)
      offMs = 30 * minute
      for (const ledger of [ofUnsure, ofSure]) {
        await clock.run(10_000)
        expect(await ledger.reserve(wide)).toBe(0)
      }
      await clock.run(10_000)
      expect(await mine.reserve({ ...wide, perMinute: 1 })).toBe(61_000)
    }),
  },

  {
    title: 'a process that starts later orders calls by their time, when clocks were not one',
    run: inTwo(async (one, other) => {
      const wide = { perMinute: 9, perDay: 99 }
      const clock = new ManualClock()
      const early = one.callLedger(account, clock)
      expect(await early.reserve(wide)).toBe(0)
      clock.jump(30 * minute)
      expect(await other.callLedger(account, clock).reserve(wide)).toBe(0)
      await clock.run(1_000)
      expect(await early.reserve(wide)).toBe(0)
      const wait = await other.callLedger(account, clock).reserve({ perMinute: 1, perDay: 2 })
      expect(wait, 'a day after the call at 1 s').toBe(24 * 60 * minute + 1_000 - 30 * minute)
    }),
  },

  {
    title: 'calls that are too old to count are deleted, whatever other accounts have',
    run: inTwo(async (one, other) => {
      const clock = new ManualClock()
      const [mine, others] = [one.callLedger(account, clock), other.callLedger('other', clock)]
      const perDay = { perMinute: 9, perDay: 9 }
      for (let call = 0; call < 3; call++) {
        expect([await others.reserve(perDay), await mine.reserve(perDay)]).toEqual([0, 0])
      }
      await clock.run(3 * 24 * 60 * minute)
      await mine.reserve(perDay)
      await mine.reserve(perDay)
      expect(await one.reader.callsSince(account, 0)).toBe(2)
    }),
  },

  {
    title: 'each account has a quota of its own',
    run: inTwo(async (one, other) => {
      const clock = new ManualClock()
      const ledger = one.callLedger(account, clock)
      expect(await callByTurns([ledger], clock, 3)).toEqual([0, 0, 0])
      expect(await other.callLedger('else@example.com', clock).reserve(quota)).toBe(0)
      expect(await ledger.reserve(quota)).toBe(61_000)
    }),
  },

  {
    title: 'calls that are reserved at the same time use up the quota and do not exceed it',
    run: inTwo(async (one, other) => {
      const clock = new ManualClock()
      let made = 0
      const ledgers = [one.callLedger(account, clock), other.callLedger(account, clock)]
      for (const quota of [
        { perMinute: 100, perDay: 10_000 },
        { perMinute: 10_000, perDay: 150 },
      ]) {
        const turns = Array.from({ length: 100 }, () => ledgers).flat()
        const waits = await Promise.all(turns.map((ledger) => ledger.reserve(quota)))
        const most = Math.min(quota.perMinute, quota.perDay)
        expect(waits.filter((wait) => wait === 0)).toHaveLength(most - made)
        made = most
      }
    }),
  },

  {
    title: 'a process that starts later counts all calls of the day',
    run: inTwo(async (one, other) => {
      const clock = new ManualClock()
      const ledger = one.callLedger(account, clock)
      for (let call = 0; call < 5; call++) {
        expect(await ledger.reserve(quota)).toBe(0)
        await clock.run(120 * minute)
      }
      const wait = await other.callLedger(account, clock).reserve(quota)
      expect(wait).toBe(14 * 60 * minute + 1000)
    }),
  },

  {
    title: 'a wall clock that is set while both processes run lets no call through early',
    run: inTwo(async (one, other) => {
      for (const jump of [30 * minute, -30 * minute]) {
        const clock = new ManualClock()
        const accountOfJump = `${account} ${jump}`
        const first = one.callLedger(accountOfJump, clock)
        await first.reserve(quota)
        clock.jump(jump)
        // The second ledger starts by a clock that is half an hour off from the first one's.
        const second = other.callLedger(accountOfJump, clock)
        expect(await callByTurns([second, first, second], clock, 2)).toEqual([0, 0])
        const waits = [await first.reserve(quota), await second.reserve(quota)]
        expect(Math.min(...waits), String(jump)).toBe(61_000)
      }
    }),
  },

  {
    title: 'a wall clock that is set between the start and the first call changes nothing',
    run: inTwo(async (one, other) => {
      const clock = new ManualClock()
      expect(await one.callLedger(account, clock).reserve(quota)).toBe(0)
      const second = other.callLedger(account, clock)
      clock.jump(15 * 60 * minute)
      expect(await callByTurns([second], clock, 2)).toEqual([0, 0])
      expect(await one.callLedger(account, clock).reserve(quota)).toBe(61_000)
    }),
  },

  {
    title:
      'removals have a tenth of the day and half of a minute, and rows leave them a tenth of both while one waits',
    run: inTwo(async (one, other) => {
      const clock = new ManualClock()
      const quota = { perMinute: 20, perDay: 60 }
      const letThrough = async (ledger: CallLedger, use: CallUse) => {
        let calls = 0
        while ((await ledger.reserve(quota, use)) === 0) calls += 1
        return calls
      }
      const first = one.callLedger(account, clock)
      expect(await letThrough(first, 'removal'), 'a tenth of the day').toBe(6)
      expect(await letThrough(other.callLedger(account, clock), 'rows')).toBe(14)
      await one.intake.append([makeSignup({ email: ada })])
      await deliver(one)
      await forget(one)
      const second = other.callLedger('else@example.com', clock)
      expect(await letThrough(second, 'rows')).toBe(18)
      expect(await letThrough(second, 'removal')).toBe(2)
      let rows = 18
      for (let minutes = 1; minutes < 5; minutes++) {
        await clock.run(61_000)
        rows += await letThrough(second, 'rows')
      }
      expect(rows, 'but for a tenth').toBe(54)
      expect(await letThrough(second, 'removal'), 'forget gets all that are left').toBe(4)
      const removals = await one.erasure.removals(0)
      await one.erasure.removed(removals.map(({ position }) => position))
      expect(await second.reserve({ ...quota, perDay: 61 })).toBe(0)
    }),
  },
]
