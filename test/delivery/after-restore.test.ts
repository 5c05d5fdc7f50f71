import { expect, test } from 'vitest'

import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { ScriptedSpreadsheet } from '../../harness/scripted-spreadsheet.ts'
import { isRestoreDone } from '../../src/delivery/after-restore.ts'
import { Attempts } from '../../src/delivery/attempts.ts'
import { createEvents } from '../../src/ops/events.ts'
import { createHealth } from '../../src/ops/health.ts'
import { createLog } from '../../src/ops/log.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { restoredFact } from '../../src/journal/contracts/delivery-log.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { RowPart, RowReader } from '../../src/spreadsheet/spreadsheet.ts'
import { createDeliveryWorld, spreadsheetOf, writes } from './writer-world.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const minute = 60 * 1000

/** A restored journal with waiting signups, of which these have rows, and the restored position. */
async function restoredWorld(
  withRows: readonly number[],
  { upto = 4, signups: count = 4, spreadsheet = spreadsheetOf(300), heard = {} } = {},
) {
  const journal = openSqliteJournal(':memory:')
  const signups = makeSignups(count).map((signup, at) => ({ ...signup, receivedAt: noon + at }))
  await journal.intake.append(signups)
  await journal.delivery.noteFact(restoredFact, String(upto))
  for (const at of withRows) {
    const { email, receivedAt } = signups[at] ?? expect.fail()
    spreadsheet.rows['Sheet1'] = [...(spreadsheet.rows['Sheet1'] ?? []), email]
    spreadsheet.keys.push({ tab: 'Sheet1', key: { email, at: receivedAt } })
  }
  return createDeliveryWorld({ journal, spreadsheet, heard })
}

test('waiting signups of a restored journal get rows only if they have none, also after a second start', async () => {
  await using world = await restoredWorld([0, 2])
  world.writer.start()
  await world.delivered(4)
  expect(world.spreadsheet.rows['Sheet1']?.toSorted()).toEqual(
    [1, 2, 3, 4].map((n) => `person${n}@example.com`),
  )
  expect(await world.journal.reader.backlog()).toBe(0)
  expect(await world.journal.delivery.fact(restoredFact)).toBe('')
  const after = createDeliveryWorld({ journal: world.journal, spreadsheet: world.spreadsheet })
  await world.journal.intake.append([makeSignup({ email: 'new@example.com' })])
  after.writer.start()
  await after.delivered(5)
  expect(world.spreadsheet.calls.filter((call) => call === 'read')).toHaveLength(1)
  await after.writer.stop(0)
})

test('nothing is read or written while calls from before the restore may still be applied', async () => {
  await using world = await restoredWorld([])
  world.writer.start()
  await world.clock.run(4 * minute - 1000)
  expect(world.spreadsheet.calls).toEqual(['open'])
  expect(world.health.delivery).toEqual({
    state: 'delayed',
    error: 'A backup was restored: calls from before it may still arrive',
  })
  // Such a call is applied in the last moment.
  world.spreadsheet.keys.push({
    tab: 'Sheet1',
    key: { email: 'person1@example.com', at: noon },
  })
  await world.delivered(3)
  expect(world.spreadsheet.rows['Sheet1']).toHaveLength(3)
  expect(world.spreadsheet.calls.slice(1, 4)).toEqual(['open', 'finish', 'read'])
  expect(world.health.delivery).toEqual({ state: 'ok' })
})

test('signups after the restored position are written, whatever the rows are', async () => {
  await using world = await restoredWorld([0, 1, 2], { upto: 2 })
  world.writer.start()
  await world.delivered(5)
  expect(world.spreadsheet.rows['Sheet1']).toHaveLength(5)
})

test('while people keep changing the rows, they are read six times a minute and nothing is written, and later all of it', async () => {
  await using world = await restoredWorld([0])
  const { spreadsheet } = world
  let isRestless = true
  const real = spreadsheet.rowReader.bind(spreadsheet)
  spreadsheet.rowReader = (): RowReader => {
    const reader = real()
    if (!isRestless) return reader
    return { ...reader, next: async () => ({ kind: 'changed' }) }
  }
  world.writer.start()
  await world.clock.run(4 * minute)
  const reads = () => spreadsheet.calls.filter((call) => call === 'read').length
  const before = reads()
  await world.clock.run(20 * minute)
  expect(reads() - before).toBe(20 * 6)
  expect(writes(spreadsheet)).toEqual([])
  expect(world.health.delivery).toEqual({
    state: 'delayed',
    error: expect.stringMatching(
      /^The rows were changed each time while they were read, or Google/,
    ),
  })
  isRestless = false
  await world.delivered(4)
  expect(spreadsheet.rows['Sheet1']).toHaveLength(4)
})

test('two readings have to agree when they are not of one moment', async () => {
  await using world = await restoredWorld([0])
  const { spreadsheet } = world
  const [key = expect.fail()] = spreadsheet.keys
  // The only row is hidden from the first reading, as by a person who sorts meanwhile.
  const readings = [[], [key.key], [key.key]]
  spreadsheet.rowReader = (): RowReader => {
    spreadsheet.calls.push('read')
    const rows = readings.shift() ?? expect.fail()
    const parts: RowPart[] = [{ kind: 'rows', place: 'Sheet1', tab: 'Sheet1', rows }]
    return {
      next: async () => parts.shift() ?? { kind: 'end', isOneMoment: false },
      [Symbol.asyncDispose]: async () => undefined,
    }
  }
  world.writer.start()
  await world.delivered(4)
  expect(spreadsheet.rows['Sheet1']).toHaveLength(4)
})

test('rows in files are compared at once, because no call can arrive late', async () => {
  const spreadsheet = new ScriptedSpreadsheet({ hasQuota: false })
  await using world = await restoredWorld([0], { spreadsheet })
  world.writer.start()
  await world.clock.run(10 * 1000)
  expect(spreadsheet.calls.slice(0, 4)).toEqual(['open', 'finish', 'read', 'write 1'])
  expect(spreadsheet.rows['Sheet1']).toHaveLength(4)
})

test('rows are read only when what a lost journal has begun to write is complete', async () => {
  await using world = await restoredWorld([0])
  const { spreadsheet } = world
  let isLocked = true
  spreadsheet.finishEarlier = async () => {
    spreadsheet.calls.push('finish')
    return isLocked ? { kind: 'retryable', message: 'locked' } : { kind: 'finished' }
  }
  world.writer.start()
  await world.clock.run(10 * minute)
  expect(world.health.delivery).toEqual({ state: 'delayed', error: 'locked' })
  expect(new Set(spreadsheet.calls)).toEqual(new Set(['open', 'finish']))
  isLocked = false
  await world.delivered(4)
  expect(spreadsheet.rows['Sheet1']).toHaveLength(4)
})

const down = { kind: 'retryable', message: 'down' } as const

test.each([
  {
    what: 'what a lost journal has begun is completed',
    fail: (spreadsheet: ScriptedSpreadsheet) => {
      spreadsheet.finishEarlier = async () => down
    },
  },
  {
    what: 'the rows are read',
    fail: (spreadsheet: ScriptedSpreadsheet) => {
      spreadsheet.rowReader = () => {
        return { next: async () => down, [Symbol.asyncDispose]: async () => undefined }
      }
    },
  },
])('after a stop while $what, the next process compares all rows', async ({ fail }) => {
  const reports: unknown[] = []
  const report = (told: unknown) => void reports.push(told)
  const heard = { deliveryStarted: report, deliveryFailed: report }
  await using world = await restoredWorld([0], { heard })
  fail(world.spreadsheet)
  world.writer.start()
  await world.clock.run(10 * minute)
  expect(world.health.delivery).toEqual({ state: 'delayed', error: 'down' })
  await world.writer.stop(0)
  expect(await world.journal.delivery.fact(restoredFact)).toBe('4')
  expect(reports).toEqual([])
  expect(world.spreadsheet.calls).not.toContain('read')
  expect(writes(world.spreadsheet)).toEqual([])
})

test('each of many signups that have a row is found, also when the writer is killed in between', async () => {
  const count = 450
  const all = Array.from({ length: count }, (_, at) => at)
  await using world = await restoredWorld(all, { upto: count, signups: count })
  const { journal, spreadsheet, clock, writer } = world
  const { compared } = journal
  const note = compared.noteArrived.bind(compared)
  let pages = 0
  compared.noteArrived = async (positions) => {
    pages += 1
    if (pages === 2) throw new Error('killed')
    await note(positions)
  }
  writer.start()
  await clock.runUntil(() => pages >= 2)
  expect(await journal.delivery.fact(restoredFact)).toBe(String(count))
  await clock.run(10 * minute)
  expect(await journal.delivery.fact(restoredFact)).toBe('')
  expect(spreadsheet.rows['Sheet1']).toHaveLength(count)
  expect(await journal.reader.backlog()).toBe(0)
})

test('what the rows were compared with is given up when they are read', async () => {
  const journal = openSqliteJournal(':memory:')
  await journal.delivery.noteFact(restoredFact, '1')
  const spreadsheet = spreadsheetOf(300)
  const clock = new ManualClock()
  let open = 0
  const arrivals = async () => {
    open++
    return {
      begin: () => undefined,
      note: async () => undefined,
      isSteady: true,
      noteArrived: async () => undefined,
      [Symbol.dispose]: () => {
        open--
      },
    }
  }
  const attempts = new Attempts({
    ...{
      clock,
      random: () => 0.5,
      events: createEvents(createLog('silent'), createHealth(), clock),
    },
    ...{ stopping: new AbortController().signal, giveUp: new AbortController().signal },
  })
  const startedAt = -4 * minute
  const options = { journal: journal.delivery, arrivals, spreadsheet, clock, attempts, startedAt }
  expect(await isRestoreDone(options)).toBe(true)
  expect(open).toBe(0)
})
