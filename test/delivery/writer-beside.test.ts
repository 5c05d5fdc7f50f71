import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { neverArrived, refuses } from '../../harness/scripted-spreadsheet.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { FrozenBatch } from '../../src/signup/batch.ts'
import { createDeliveryWorld, writes } from './writer-world.ts'

const second = 1000
const minute = 60 * second

/** What another writer on the same journal does while this one waits to try again. */
const others = [
  {
    what: 'written',
    end: async ({ journal, clock }: ReturnType<typeof createDeliveryWorld>, batch: FrozenBatch) =>
      journal.delivery.settle(batch.number, clock.now()),
    markers: 1,
  },
  {
    what: 'given up',
    end: async ({ journal }: ReturnType<typeof createDeliveryWorld>, batch: FrozenBatch) =>
      journal.delivery.release(batch),
    markers: 2,
  },
  {
    what: 'given another marker',
    end: async ({ journal }: ReturnType<typeof createDeliveryWorld>, batch: FrozenBatch) =>
      journal.delivery.remark(batch, 1000),
    markers: 2,
  },
]

test.each(others)(
  'a batch that another writer has $what is not sent under its old marker any more',
  async ({ end, markers }) => {
    await using it = createDeliveryWorld()
    const seen: number[] = []
    it.spreadsheet.script = ({ marker }) => {
      seen.push(marker)
      return seen.length === 1 ? neverArrived : undefined
    }
    it.writer.start()
    await it.journal.intake.append(makeSignups(1))
    await it.clock.runUntil(() => seen.length === 1)
    await end(it, (await it.journal.delivery.frozenBatch()) ?? expect.fail())
    await it.clock.run(30 * second)
    expect(seen).toHaveLength(markers)
    expect(new Set(seen).size).toBe(markers)
    expect(it.health.delivery).toEqual({ state: 'ok' })
    expect(await it.journal.reader.backlog()).toBe(0)
  },
)

test('a batch that another writer has written is not given up any more, and its tab is no trouble', async () => {
  await using it = createDeliveryWorld()
  it.spreadsheet.script = () => refuses('protected', 'Sheet1')
  it.spreadsheet.abandons = () => ({ kind: 'retryable', message: 'down' })
  it.writer.start()
  await it.journal.intake.append(makeSignups(1))
  await it.clock.runUntil(() => it.spreadsheet.calls.includes('abandon 1'))
  await it.journal.delivery.settle(1, it.clock.now())
  await it.clock.run(minute)
  expect(it.spreadsheet.calls).toEqual(['open', 'write 1', 'abandon 1'])
  expect(it.health.tabs.size).toBe(0)
  expect(it.health.delivery).toEqual({ state: 'ok' })
})

test('signups that another writer takes while this one waits for more are no trouble', async () => {
  const reports: unknown[] = []
  const report = (...told: unknown[]) => void reports.push(told)
  await using it = createDeliveryWorld({ heard: { deliveryFailed: report, tabResumed: report } })
  it.writer.start()
  await it.clock.run(minute)
  await it.journal.intake.append([makeSignup()])
  await it.clock.run(50)
  const batch = await freezeNext(it.journal.delivery)
  await it.journal.delivery.settle(batch?.number ?? 0, it.clock.now())
  await it.clock.run(minute)
  expect(reports).toEqual([])
  expect(it.spreadsheet.calls).toEqual(['open'])
})

test('a delay is over when another writer has written all that waited', async () => {
  await using it = createDeliveryWorld({ markersMax: 1, lookEveryMs: second })
  it.writer.start()
  await it.journal.intake.append([makeSignup()])
  await it.clock.run(minute)
  await it.journal.intake.append([makeSignup()])
  await it.clock.run(minute)
  expect(it.health.delivery).toMatchObject({ state: 'delayed' })
  const batch = await freezeNext(it.journal.delivery)
  await it.journal.delivery.settle(batch?.number ?? 0, it.clock.now())
  await it.clock.run(20 * second)
  expect(it.health.delivery).toEqual({ state: 'ok' })
  expect(writes(it.spreadsheet)).toEqual(['write 1'])
})

test('a batch of its own that could not be settled at once is still its own, whose marker makes room after 15 minutes', async () => {
  const journal = openSqliteJournal(':memory:')
  let failures = 1
  const delivery = changed(journal.delivery, {
    settle: async (...settled) => {
      if (failures-- > 0) throw new Error('disk full')
      return journal.delivery.settle(...settled)
    },
  })
  await using it = createDeliveryWorld({ journal: changed(journal, { delivery }), markersMax: 1 })
  await journal.delivery.noteFact('fence of a test', 'holds')
  it.writer.start()
  await journal.intake.append([makeSignup()])
  await it.clock.run(minute)
  await journal.intake.append([makeSignup()])
  await it.clock.run(15 * minute)
  expect(writes(it.spreadsheet)).toEqual(['write 1', 'write 1', 'write 2'])
})
