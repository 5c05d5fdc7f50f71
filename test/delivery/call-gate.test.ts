import { expect, test } from 'vitest'

import { Account } from '../../src/delivery/account.ts'
import type { CallLedger } from '../../src/journal/contracts/call-ledger.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { CallGate } from '../../src/spreadsheet/spreadsheet.ts'
import { ManualClock } from '../../harness/manual-clock.ts'

const account = 'robot@example.com'
const minute = 60_000
const day = 24 * 60 * minute
const quota = { perMinute: 3, perDay: 5 }
const signal = new AbortController().signal

function gateOf(ledger: CallLedger, clock: ManualClock, delivers?: () => boolean): CallGate {
  return new Account({ ledger, quota, clock, sites: 1 }).join(delivers).gate
}

/** The gate of a process that starts now. */
function openGate(journal: Journal, clock: ManualClock): CallGate {
  return gateOf(journal.callLedger(account, clock), clock)
}

/** Passes the gate `count` times; returns when each passed, in seconds of elapsed time. */
async function pass(gate: CallGate, clock: ManualClock, count: number): Promise<number[]> {
  const passed: number[] = []
  void (async () => {
    for (let call = 0; call < count; call++) {
      await gate(signal)
      passed.push(Math.round(clock.elapsed() / 1000))
    }
  })()
  await clock.runUntil(() => passed.length === count)
  return passed
}

test('a call beyond the quota of a minute waits for the next minute, and one beyond the quota of a day for the next day', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const gate = openGate(journal, clock)
  expect(await pass(gate, clock, 6)).toEqual([0, 0, 0, 61, 61, 86_401])
})

test('calls of an earlier process count, as if it had made the last one just now', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  await pass(openGate(journal, clock), clock, 3)
  await clock.run(10_000)
  expect(await pass(openGate(journal, clock), clock, 1)).toEqual([71])
})

test.each([
  { what: 'set ahead', byMs: minute },
  { what: 'set ahead by a day', byMs: day },
  { what: 'set ahead by a month', byMs: 30 * day },
  { what: 'set back', byMs: -30 * day },
])('a wall clock that is $what neither opens the gate early nor shuts it', async ({ byMs }) => {
  for (const isNewProcess of [false, true]) {
    await using journal = openSqliteJournal(':memory:')
    const clock = new ManualClock()
    const gate = openGate(journal, clock)
    await pass(gate, clock, 3)
    clock.jump(byMs)
    expect(await pass(isNewProcess ? openGate(journal, clock) : gate, clock, 1)).toEqual([61])
  }
})

test('when the quota of a day is used up, a wall clock that was set back shuts the gate for a day at most', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  await pass(openGate(journal, clock), clock, 5)
  clock.jump(-30 * day)
  expect(await pass(openGate(journal, clock), clock, 1)).toEqual([86_401])
})

test('a call is noted in the journal before it is let through', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const gate = openGate(journal, clock)
  await gate(signal)
  const ledger = journal.callLedger(account, clock)
  expect(await ledger.reserve({ perMinute: 1, perDay: 9 })).toBe(61_000)
})

test('a stop ends the wait of a call, and the call is not counted', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const gate = openGate(journal, clock)
  await pass(gate, clock, 3)
  const stop = new AbortController()
  const waiting = gate(stop.signal)
  stop.abort()
  await expect(waiting).rejects.toThrow()
  const ledger = journal.callLedger(account, clock)
  expect(await ledger.reserve({ perMinute: 4, perDay: 4 })).toBe(0)
})

test('a call whose process was stopped after its reservation is reserved anew', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const gate = openGate(journal, clock)
  const stopsMs = [2 * minute, 0]
  await gate(signal, async () => {
    await clock.run(stopsMs.shift() ?? 0)
    return true
  })
  // The call counts as made after the stop, so two more fit into that minute.
  expect(await pass(gate, clock, 3)).toEqual([120, 120, 181])
})

test('a call whose reservation itself takes long is reserved anew', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const ledger = journal.callLedger(account, clock)
  const reserve = async (...asked: Parameters<typeof ledger.reserve>) => {
    const wait = await ledger.reserve(...asked)
    reservations += 1
    if (reservations === 1) await clock.run(1001)
    return wait
  }
  let reservations = 0
  await gateOf({ reserve }, clock)(signal)
  expect(reservations).toBe(2)
})

test('calls are let through where every reservation takes some seconds', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const ledger = journal.callLedger(account, clock)
  const slow = async () => {
    await clock.run(3000)
    return ledger.reserve({ perMinute: 100, perDay: 100 })
  }
  expect(await gateOf({ reserve: slow }, clock)(signal)).toBe(true)
})

test('a call that may not be sent any more is not let through', async () => {
  await using journal = openSqliteJournal(':memory:')
  const gate = openGate(journal, new ManualClock())
  expect(await gate(signal, async () => false)).toBe(false)
})

test('no call is let through when another instance may deliver by now', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  let delivers = true
  const gate = gateOf(journal.callLedger(account, clock), clock, () => delivers)
  expect(await gate(signal)).toBe(true)
  const lostMeanwhile = async () => {
    delivers = false
    return true
  }
  await expect(gate(signal, lostMeanwhile)).rejects.toThrow('Another instance')
})
