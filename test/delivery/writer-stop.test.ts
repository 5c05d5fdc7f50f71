import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import {
  neverArrived,
  refuses,
  type ScriptedSpreadsheet,
} from '../../harness/scripted-spreadsheet.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { createDeliveryWorld } from './writer-world.ts'

const second = 1000
const minute = 60 * second

/** Stops the writer. Returns how long that took. */
async function stop(
  { writer, clock }: Pick<ReturnType<typeof createDeliveryWorld>, 'writer' | 'clock'>,
  graceMs: number,
): Promise<number> {
  const start = clock.elapsed()
  let isStopped = false
  void writer.stop(graceMs).then(() => (isStopped = true))
  await clock.runUntil(() => isStopped)
  return clock.elapsed() - start
}

test('a stop gives up a batch that has no answer after the grace period, and the batch stays frozen', async () => {
  await using it = createDeliveryWorld()
  let signal: AbortSignal | undefined
  it.spreadsheet.script = (_batch, _attempt, _maySend, given) => {
    signal = given
    return new Promise((resolve) => {
      given?.addEventListener('abort', () => resolve(neverArrived))
    })
  }
  it.writer.start()
  await it.journal.intake.append(makeSignups(1))
  await it.clock.runUntil(() => signal !== undefined)
  expect(await stop(it, 10 * second)).toBe(10 * second)
  expect(signal?.aborted).toBe(true)
  expect(await it.journal.delivery.frozen()).toBeDefined()
  expect(await it.journal.reader.backlog()).toBe(1)
})

test.each([
  { what: 'an idle writer', script: () => undefined, rows: 0 },
  { what: 'a writer that waits after a failure', script: () => neverArrived, rows: 1 },
  { what: 'a blocked writer', script: () => refuses('no'), rows: 1 },
])('a stop ends $what at once', async ({ script, rows }) => {
  await using it = createDeliveryWorld()
  it.spreadsheet.script = script
  it.writer.start()
  await it.journal.intake.append(makeSignups(rows))
  await it.clock.run(minute)
  const calls = it.spreadsheet.calls.length
  expect(await stop(it, 10 * second)).toBe(0)
  await it.clock.run(minute)
  expect(it.spreadsheet.calls).toHaveLength(calls)
})

const down = { kind: 'retryable', message: 'down' } as const

test.each<{ what: string; isFrozen: boolean; fail: (spreadsheet: ScriptedSpreadsheet) => void }>([
  {
    what: 'the spreadsheet cannot be opened',
    isFrozen: false,
    fail: (spreadsheet) => (spreadsheet.opened = () => down),
  },
  {
    what: 'a batch cannot be written',
    isFrozen: true,
    fail: (spreadsheet) => (spreadsheet.script = () => neverArrived),
  },
  {
    what: 'a batch cannot be given up',
    isFrozen: true,
    fail: (spreadsheet) => {
      spreadsheet.script = () => refuses('protected', 'Sheet1')
      spreadsheet.abandons = () => down
    },
  },
  {
    what: 'the marker of the first batch cannot be tested',
    isFrozen: false,
    fail: (spreadsheet) => (spreadsheet.abandons = () => down),
  },
])('a stop while $what reports nothing, and concludes nothing', async ({ isFrozen, fail }) => {
  const reports: unknown[] = []
  const report = (...told: unknown[]) => void reports.push(told)
  await using it = createDeliveryWorld({
    heard: {
      deliveryStarted: report,
      deliveryFailed: report,
      batchWritten: report,
      tabSetAside: report,
      deliveryOddity: report,
    },
  })
  fail(it.spreadsheet)
  it.writer.start()
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(2 * minute)
  expect(it.health.delivery).toMatchObject({ state: 'delayed' })
  reports.length = 0
  await stop(it, second)
  expect(reports).toEqual([])
  expect((await it.journal.delivery.frozen()) !== undefined).toBe(isFrozen)
  expect(await it.journal.delivery.fact('fence of a test')).toBeUndefined()
})

test('a stop while the writer waits for more signups freezes no batch', async () => {
  await using it = createDeliveryWorld()
  it.writer.start()
  await it.clock.run(minute)
  await it.journal.intake.append(makeSignups(1))
  await it.clock.run(50)
  expect(await stop(it, second)).toBe(0)
  expect(await it.journal.delivery.frozen()).toBeUndefined()
})

test('a stop ends the listener of the journal, and leaves no timer behind', async () => {
  const journal = openSqliteJournal(':memory:')
  let listeners = 0
  const delivery = changed(journal.delivery, {
    onAppend: (listener) => {
      listeners += 1
      const end = journal.delivery.onAppend(listener)
      return () => {
        listeners -= 1
        end()
      }
    },
  })
  await using it = createDeliveryWorld({ journal: changed(journal, { delivery }) })
  it.writer.start()
  await journal.intake.append(makeSignups(1))
  await it.delivered(1)
  expect(listeners).toBe(1)
  expect(it.clock.sleeping).toBeGreaterThan(0)
  await stop(it, 10 * second)
  expect(listeners).toBe(0)
  expect(it.clock.sleeping).toBe(0)
})

test('a stop waits until the journal has noted how long markers have aged', async () => {
  const journal = openSqliteJournal(':memory:')
  const full = Promise.withResolvers<undefined>()
  let isSlow = false
  const delivery = changed(journal.delivery, {
    noteRunningTime: async (note) => {
      if (isSlow) await full.promise
      return journal.delivery.noteRunningTime(note)
    },
  })
  await using it = createDeliveryWorld({ journal: changed(journal, { delivery }) })
  it.writer.start()
  await journal.intake.append(makeSignups(1))
  await it.clock.run(10 * second)
  isSlow = true
  await it.clock.run(minute)
  let isStopped = false
  void it.writer.stop(second).then(() => (isStopped = true))
  await it.clock.run(minute)
  expect(isStopped).toBe(false)
  full.resolve(undefined)
  await it.clock.run(second)
  expect(isStopped).toBe(true)
})
