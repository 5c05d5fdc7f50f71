import { expect, test } from 'vitest'

import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { ScriptedSpreadsheet } from '../../harness/scripted-spreadsheet.ts'
import { Account } from '../../src/delivery/account.ts'
import type { Journal } from '../../src/journal/contracts/journal.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { createEvents } from '../../src/ops/events.ts'
import { createHealth } from '../../src/ops/health.ts'
import { createLog } from '../../src/ops/log.ts'
import { createWriter } from '../../src/service/site-delivery.ts'
import type { CallGate } from '../../src/spreadsheet/spreadsheet.ts'
import { googleSettings, signsNothing } from './writer-world.ts'

const second = 1000
const minute = 60 * second
const { quota } = googleSettings
const names = Array.from({ length: 20 }, (_, at) => `site-${at}`)

function openAccount(journal: Journal, clock: ManualClock): Account {
  return new Account({ ledger: journal.callLedger('robot', clock), quota, clock, sites: 20 })
}

/** The writer of a site. Each of its calls takes a second. */
function deliver(journal: Journal, account: Account, clock: ManualClock) {
  const share = account.join()
  let rows = 0
  const spreadsheet = new ScriptedSpreadsheet({ rowsMax: 100 })
  spreadsheet.script = async (_batch, _attempt, maySend, signal) => {
    await share.gate(signal ?? new AbortController().signal, maySend)
    await clock.sleep(second)
    return undefined
  }
  const writer = createWriter(
    {
      spreadsheet: googleSettings,
      workbookDir: '',
      signIn: signsNothing,
      journal,
      share,
      events: {
        ...createEvents(createLog('silent'), createHealth(), clock),
        batchWritten: (_, count) => (rows += count),
      },
    },
    {
      clock,
      random: () => 0.5,
      signWith: () => async () => 'signed',
      wrap: () => spreadsheet,
      lookEveryMs: minute,
    },
  )
  writer.start()
  return { journal, writer, rows: () => rows }
}

test('rows of quiet sites arrive within seconds beside a backlog of 200 calls of a site with their account', async () => {
  const clock = new ManualClock()
  const policies = new Map(names.map((name) => [name, {}]))
  await using opened = openSqliteSites(':memory:', policies)
  const journals = [...opened.sites.values()]
  await journals[0]?.intake.append(makeSignups(20_000))
  const account = openAccount(journals[0] ?? expect.fail(), clock)
  const [backlog = expect.fail(), ...quiet] = journals.map((it) => deliver(it, account, clock))

  const waits: number[] = []
  for (const [at, { journal, rows }] of quiet.entries()) {
    await clock.run((at % 4) * 5 * second)
    const arrived = clock.elapsed()
    await journal.intake.append([makeSignup()])
    await clock.runUntil(() => rows() === 1)
    waits.push((clock.elapsed() - arrived) / second)
  }
  expect(backlog.rows(), 'it was not done in the meantime').toBeLessThan(20_000)
  expect(Math.max(...waits)).toBeLessThan(5)
  // The rest of the minute's calls are not wasted.
  await clock.runUntil(() => backlog.rows() === 20_000)
  expect(clock.elapsed()).toBeLessThan((200 / 40 + 1) * minute)

  const stopped = [backlog, ...quiet].map(({ writer }) => writer.stop(0))
  await clock.run(minute)
  await Promise.all(stopped)
})

/** Calls without a rest. Returns when each call was made. */
function callOnAndOn(gate: CallGate, clock: ManualClock, signal: AbortSignal): number[] {
  const calls: number[] = []
  void (async () => {
    while (await gate(signal).catch(() => false)) {
      calls.push(clock.elapsed())
      await clock.sleep(second)
    }
  })()
  return calls
}

test('20 busy sites with one account get two calls a minute each, and together no more than the quota', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const account = openAccount(journal, clock)
  const stop = new AbortController()
  const calls = names.map(() => callOnAndOn(account.join().gate, clock, stop.signal))
  await clock.run(20 * minute)
  stop.abort()
  const counts = calls.map((own) => own.length)
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(40)
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
  const all = calls.flat().sort((a, b) => a - b)
  for (const [at, time] of all.entries()) {
    expect((all[at + quota.perMinute] ?? Infinity) - time).toBeGreaterThan(minute)
  }
})

test('a site that begins while 19 others are busy makes its first call within seconds', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new ManualClock()
  const account = openAccount(journal, clock)
  const stop = new AbortController()
  for (const _ of names.slice(1)) callOnAndOn(account.join().gate, clock, stop.signal)
  await clock.run(10 * minute)
  const begun = clock.elapsed()
  const late = callOnAndOn(account.join().gate, clock, stop.signal)
  await clock.runUntil(() => late.length === 1)
  stop.abort()
  expect((late[0] ?? Infinity) - begun).toBeLessThan(5 * second)
})
