import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { neverArrived, refuses } from '../../harness/scripted-spreadsheet.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { JournalUnavailable } from '../../src/journal/contracts/errors.ts'
import { createDeliveryWorld } from './writer-world.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

test('a batch is reported once it is settled, with its number, its rows and its tries', async () => {
  const reports: unknown[] = []
  const journal = openSqliteJournal(':memory:')
  let settled = 0
  const delivery = changed(journal.delivery, {
    settle: async (number, at) => {
      await journal.delivery.settle(number, at)
      settled += 1
    },
  })
  await using it = createDeliveryWorld({
    journal: changed(journal, { delivery }),
    heard: { batchWritten: (...told) => reports.push([...told, settled]) },
  })
  it.spreadsheet.script = ({ number }, attempt) =>
    number === 2 && attempt < 3 ? neverArrived : undefined
  it.writer.start()
  await it.journal.intake.append([...makeSignups(2), makeSignup({ sheetTab: 'News' })])
  await it.delivered(3)
  await it.journal.intake.append([makeSignup()])
  await it.delivered(4)
  expect(reports).toEqual([
    [1, 3, 1, 1],
    [2, 1, 3, 2],
  ])
})

test('the start is reported once, with the place of the rows', async () => {
  const reports: unknown[] = []
  await using it = createDeliveryWorld({
    heard: { deliveryStarted: (...told) => reports.push(told) },
  })
  let opened = 0
  it.spreadsheet.opened = () => {
    opened += 1
    return opened === 1 ? { kind: 'retryable', message: 'down' } : { kind: 'open' }
  }
  await it.journal.intake.append([makeSignup()])
  it.writer.start()
  it.writer.start()
  await it.delivered(1)
  expect(opened).toBe(2)
  expect(reports).toEqual([['a test']])
})

test('a delay because of too many markers is reported as over once, when there is room again', async () => {
  const reports = new Set<string>()
  let resumed = 0
  await using it = createDeliveryWorld({
    markersMax: 1,
    heard: {
      deliveryDelayed: (message) => reports.add(message),
      deliveryResumed: () => resumed++,
    },
  })
  it.writer.start()
  await it.journal.intake.append([makeSignup()])
  await it.delivered(1)
  // The test of the fence is over then.
  await it.clock.run(minute)
  await it.journal.intake.append([makeSignup()])
  await it.clock.run(3 * minute)
  expect([...reports]).toEqual(['Too many markers stand in the spreadsheet'])
  expect(resumed).toBe(0)
  await it.delivered(2)
  expect(resumed).toBe(1)
})

const faults: readonly { what: string; error: Error; isDefect: boolean }[] = [
  { what: 'our own defect', error: new TypeError('x is undefined'), isDefect: true },
  { what: 'a full disk', error: new JournalUnavailable('The disk is full.'), isDefect: false },
]

test.each(faults)(
  'after $what the writer tries again later and later, soon again after a success, and health says so',
  async (it) => {
    const journal = openSqliteJournal(':memory:')
    const times: number[] = []
    const defects: unknown[] = []
    let failing = 4
    const delivery = changed(journal.delivery, {
      freeze: async (...batch) => {
        times.push(world.clock.elapsed())
        if (failing-- > 0) throw it.error
        return journal.delivery.freeze(...batch)
      },
    })
    await using world = createDeliveryWorld({
      journal: changed(journal, { delivery }),
      heard: { deliveryFailed: (error) => defects.push(error) },
    })
    world.writer.start()
    await journal.intake.append(makeSignups(1))
    await world.clock.runUntil(() => times.length === 4)
    expect(world.health.delivery).toEqual({
      state: 'delayed',
      error: it.isDefect ? 'Delivery failed unexpectedly' : 'The disk is full.',
    })
    expect(defects).toEqual(it.isDefect ? times.map(() => it.error) : [])
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0))
    // Half of 1, 2 and 4 seconds, and the moment for which each batch waits for more signups.
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(500 * 2 ** index)
      expect(pause).toBeLessThan(500 * 2 ** index + second)
    }
    await world.delivered(1)
    expect(world.health.delivery).toEqual({ state: 'ok' })
    failing = 1
    times.length = 0
    await journal.intake.append(makeSignups(1))
    await world.delivered(2)
    expect((times[1] ?? Infinity) - (times[0] ?? 0)).toBeLessThan(1.5 * second)
  },
)

const endings = [
  { what: 'settled', outcome: { kind: 'applied' } },
  { what: 'given up', outcome: { kind: 'abandoned' } },
] as const

test.each(endings)(
  'a batch that another writer has just $what is no failure',
  async ({ what, outcome }) => {
    const journal = openSqliteJournal(':memory:')
    const reports: unknown[] = []
    await using it = createDeliveryWorld({
      journal,
      heard: {
        deliveryFailed: (error) => reports.push(error),
        deliveryDelayed: (message) => reports.push(message),
      },
    })
    it.spreadsheet.script = async (batch) => {
      if (batch.number > 1) return undefined
      if (what === 'settled') await journal.delivery.settle(batch.number, it.clock.now())
      else await journal.delivery.release(batch)
      return { applies: what === 'settled', answers: outcome }
    }
    it.writer.start()
    await journal.intake.append(makeSignups(2))
    await it.clock.run(second)
    await journal.intake.append(makeSignups(1))
    await it.delivered(3)
    expect(it.spreadsheet.rows['Sheet1']).toHaveLength(3)
    expect(reports).toEqual([])
  },
)

test('a batch that was applied is settled, although its last try was refused', async () => {
  const reports: unknown[] = []
  await using it = createDeliveryWorld({
    heard: {
      batchWritten: (...told) => reports.push(told),
    },
  })
  it.spreadsheet.script = (_, attempt) => (attempt === 1 ? neverArrived : refuses('no', 'Sheet1'))
  it.spreadsheet.abandons = () => ({ kind: 'applied' })
  it.writer.start()
  await it.journal.intake.append(makeSignups(2))
  await it.clock.run(minute)
  expect(reports).toEqual([[1, 2, 1]])
  expect(await it.journal.reader.backlog()).toBe(0)
  expect(it.health.tabs.size).toBe(0)
})

test('a tab that cannot be written is tried after 5 seconds, then later and later, and reported again when it works', async () => {
  const resumed: string[] = []
  await using it = createDeliveryWorld({ heard: { tabResumed: (tab) => resumed.push(tab) } })
  const tries: number[] = []
  it.spreadsheet.script = ({ tabs }) => {
    if (!tabs.some(({ tab }) => tab === 'Locked')) return undefined
    tries.push(it.clock.elapsed())
    return tries.length < 6 ? refuses('protected', 'Locked') : undefined
  }
  it.writer.start()
  await it.journal.intake.append([makeSignup({ sheetTab: 'Locked' })])
  await it.delivered(1)
  const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0))
  const least = [5, 10, 20, 30, 30].map((seconds) => seconds * second)
  expect(pauses.map((pause, index) => pause - (least[index] ?? 0) < second)).toEqual(
    least.map(() => true),
  )
  for (const [index, pause] of pauses.entries()) {
    expect(pause).toBeGreaterThanOrEqual(least[index] ?? Infinity)
  }
  expect(resumed).toEqual(['Locked'])
})

test('each tab that cannot be written is tried in a batch of its own', async () => {
  await using it = createDeliveryWorld()
  const tries: string[] = []
  it.spreadsheet.script = ({ tabs }) => {
    tries.push(tabs.map(({ tab }) => tab).join(' '))
    return refuses('protected', tabs[0]?.tab)
  }
  it.writer.start()
  await it.journal.intake.append(['A', 'B'].map((sheetTab) => makeSignup({ sheetTab })))
  await it.clock.run(12 * second)
  expect(tries).toEqual(['A B', 'B', 'A', 'B'])
})

test('a tab that cannot be written for over an hour is tried every five minutes, and reported each time', async () => {
  let reports = 0
  await using it = createDeliveryWorld({ heard: { tabSetAside: () => reports++ } })
  it.spreadsheet.script = () => refuses('protected', 'Locked')
  it.writer.start()
  await it.journal.intake.append([makeSignup({ sheetTab: 'Locked' })])
  await it.clock.run(70 * minute)
  const tries = () => it.spreadsheet.calls.filter((call) => call.startsWith('write')).length
  const before = tries()
  await it.clock.run(hour)
  expect(tries() - before).toBeGreaterThanOrEqual(11)
  expect(tries() - before).toBeLessThanOrEqual(12)
  expect(reports).toBe(tries())
})

test('a tab that cannot be written is no trouble any more when another process has written its signups', async () => {
  await using it = createDeliveryWorld()
  it.spreadsheet.script = () => refuses('protected', 'Locked')
  it.writer.start()
  await it.journal.intake.append([makeSignup({ sheetTab: 'Locked' })])
  await it.clock.runUntil(() => it.health.tabs.size === 1)
  const batch = await freezeNext(it.journal.delivery)
  await it.journal.delivery.settle(batch?.number ?? 0, it.clock.now())
  await it.clock.run(minute)
  expect(it.health.tabs.size).toBe(0)
  expect(it.spreadsheet.calls).toEqual(['open', 'write 1', 'abandon 1'])
})

test('old markers that cannot be removed are reported, and tried again after a minute', async () => {
  const reports: string[] = []
  await using it = createDeliveryWorld({
    markersMax: 12,
    heard: { deliveryOddity: (message) => reports.push(message) },
  })
  const tries: number[] = []
  it.spreadsheet.prunes = () => {
    tries.push(it.clock.elapsed())
    return tries.length < 4 ? { kind: 'retryable', message: 'down' } : undefined
  }
  await it.journal.delivery.noteFact('fence of a test', 'holds')
  it.writer.start()
  while (tries.length < 4) {
    await it.journal.intake.append([makeSignup()])
    await it.clock.run(10 * second)
    if (it.clock.elapsed() > 2 * hour) throw new Error('No marker was pruned.')
  }
  const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(minute)
  expect(Math.max(...pauses)).toBeLessThan(minute + 25 * second)
  expect(reports).toEqual(tries.slice(1).map(() => 'Old markers stay for now: down'))
})
