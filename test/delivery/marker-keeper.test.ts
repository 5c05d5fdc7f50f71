import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { refuses, ScriptedSpreadsheet } from '../../harness/scripted-spreadsheet.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { JournalUnavailable } from '../../src/journal/contracts/errors.ts'
import { workbookProfile } from '../../src/spreadsheet/workbook/profile.ts'
import { createDeliveryWorld } from './writer-world.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const knownToHold = ['fence of a test', 'holds'] as const

type World = ReturnType<typeof createDeliveryWorld>

/** Appends a signup, and returns how long it takes until its row is written. */
async function written({ journal, spreadsheet, clock }: World): Promise<number> {
  const start = clock.elapsed()
  const rows = () => spreadsheet.rows['Sheet1']?.length ?? 0
  const before = rows()
  await journal.intake.append([makeSignup()])
  await clock.runUntil(() => rows() > before)
  return clock.elapsed() - start
}

const abandons = ({ spreadsheet }: World) =>
  spreadsheet.calls.filter((call) => call.startsWith('abandon'))

test('the marker of a first batch makes room after 15 minutes, those of later ones after 4, at most 10 seconds later', async () => {
  await using it = createDeliveryWorld({ markersMax: 1 })
  await it.journal.delivery.noteFact(...knownToHold)
  it.writer.start()
  expect(await written(it)).toBeLessThan(second)
  for (const life of [15 * minute, 4 * minute, 4 * minute]) {
    const waited = await written(it)
    expect(waited).toBeGreaterThan(life - second)
    expect(waited).toBeLessThan(life + 12 * second)
    expect(it.spreadsheet.markers.size).toBe(1)
  }
  // It is known that markers keep rows out.
  expect(abandons(it)).toEqual([])
})

test('the marker of a batch that another try applied, although this one was refused, stays for 15 minutes', async () => {
  await using it = createDeliveryWorld({ markersMax: 1 })
  await it.journal.delivery.noteFact(...knownToHold)
  it.writer.start()
  await written(it)
  it.spreadsheet.script = () => refuses('protected', 'Sheet1')
  it.spreadsheet.abandons = () => ({ kind: 'applied' })
  await it.journal.intake.append([makeSignup()])
  await it.clock.run(15 * minute + 20 * second)
  expect(await it.journal.reader.backlog()).toBe(0)
  it.spreadsheet.script = () => undefined
  expect(await written(it)).toBeGreaterThan(14 * minute)
})

test('files need no markers: none is tested, and ten or more are forgotten at a time', async () => {
  const spreadsheet = new ScriptedSpreadsheet(workbookProfile)
  await using it = createDeliveryWorld({ spreadsheet })
  let isLocked = true
  spreadsheet.script = ({ tabs }) =>
    isLocked && tabs.some(({ tab }) => tab === 'Locked') ? refuses('locked', 'Locked') : undefined
  it.writer.start()
  await it.journal.intake.append([makeSignup({ sheetTab: 'Locked' })])
  await it.clock.runUntil(() => it.health.tabs.size === 1)
  isLocked = false
  await it.delivered(1)
  for (let batch = 0; batch < 40; batch++) {
    await written(it)
    await it.clock.run(3 * second)
  }
  await it.clock.run(hour)
  expect(abandons(it)).toEqual(['abandon 1'])
  const prunes = spreadsheet.calls.filter((call) => call.startsWith('prune'))
  expect(prunes.length).toBeGreaterThanOrEqual(2)
  expect(prunes.every((call) => Number(call.slice(6)) >= 10)).toBe(true)
  expect(await it.journal.delivery.fact(knownToHold[0])).toBeUndefined()
  expect(it.health.delivery).toEqual({ state: 'ok' })
})

test('when a process is suspended in the middle of the test of its marker, the next batch is tested', async () => {
  await using it = createDeliveryWorld()
  const { spreadsheet, clock } = it
  const answers: unknown[] = []
  let isSuspended = true
  spreadsheet.abandons = async (_, maySend) => {
    answers.push(await maySend?.())
    return isSuspended ? { kind: 'abandoned' } : undefined
  }
  spreadsheet.script = async ({ tabs }, _attempt, maySend) => {
    if (tabs.length > 0) return undefined
    await clock.sleep(20 * minute)
    answers.push(await maySend?.())
    // Another writer has removed the marker meanwhile.
    spreadsheet.hasFence = false
    return undefined
  }
  it.writer.start()
  await written(it)
  await clock.run(30 * minute)
  expect(answers).toEqual([true, false])
  expect(it.health.delivery).toEqual({ state: 'ok' })
  isSuspended = false
  spreadsheet.hasFence = true
  await written(it)
  await clock.run(2 * minute)
  expect(abandons(it)).toEqual(['abandon 1', 'abandon 2'])
  expect(await it.journal.delivery.fact(knownToHold[0])).toBe('holds')
})

test('a spreadsheet that applies a batch twice is reported with what to do about it, and gets no further call', async () => {
  const problems: unknown[] = []
  await using it = createDeliveryWorld({
    heard: { deliveryBlocked: (told) => problems.push(told) },
  })
  it.spreadsheet.hasFence = false
  it.writer.start()
  await written(it)
  await it.clock.run(hour)
  expect(problems[0]).toMatchObject({
    reason: 'fence',
    message: expect.stringContaining('applied one batch id twice'),
    hint: expect.stringMatching(/new, empty spreadsheet.*in the settings.*restart/s),
  })
  const round = ['abandon 1', 'write 1']
  expect(it.spreadsheet.calls).toEqual(['open', 'write 1', ...round, ...round])
})

test('a version that a person restores in the middle of the test does not count against the spreadsheet', async () => {
  await using it = createDeliveryWorld()
  const { spreadsheet } = it
  // The markers are gone before the first two calls.
  spreadsheet.hasFence = false
  spreadsheet.abandons = () => {
    spreadsheet.hasFence = spreadsheet.calls.length > 3
    return undefined
  }
  it.writer.start()
  await written(it)
  await it.clock.run(5 * minute)
  expect(it.spreadsheet.calls).toEqual(['open', 'write 1', 'abandon 1', 'write 1', 'abandon 1'])
  expect(it.health.delivery).toEqual({ state: 'ok' })
})

test('the test of the marker is tried again after a failure, at either of its calls', async () => {
  await using it = createDeliveryWorld()
  const { spreadsheet } = it
  const down = { kind: 'retryable', message: 'down' } as const
  const failures = { abandon: 2, write: 2 }
  spreadsheet.abandons = () => (failures.abandon-- > 0 ? down : { kind: 'abandoned' })
  spreadsheet.script = ({ tabs }) => {
    if (tabs.length > 0) return undefined
    spreadsheet.hasFence = failures.write-- <= 0
    return { applies: false, answers: failures.write >= 0 ? down : { kind: 'abandoned' } }
  }
  it.writer.start()
  await written(it)
  await it.clock.run(5 * minute)
  expect(failures).toEqual({ abandon: -3, write: -1 })
  expect(await it.journal.delivery.fact(knownToHold[0])).toBe('holds')
  expect(it.health.delivery).toEqual({ state: 'ok' })
})

test('markers go on to age while a full disk keeps their time from being noted', async () => {
  const journal = openSqliteJournal(':memory:')
  let isFull = false
  const delivery = changed(journal.delivery, {
    noteRunningTime: async (note) => {
      if (isFull) throw new JournalUnavailable('The disk is full.')
      return journal.delivery.noteRunningTime(note)
    },
  })
  const alive = changed(journal, { delivery, [Symbol.asyncDispose]: async () => undefined })
  await journal.delivery.noteFact(...knownToHold)
  const spreadsheet = new ScriptedSpreadsheet({ markers: { max: 1, idMax: 1000 } })
  {
    await using it = createDeliveryWorld({ journal: alive, spreadsheet })
    it.writer.start()
    await written(it)
    isFull = true
    await it.clock.run(5 * minute)
    isFull = false
    await it.clock.run(5 * minute)
  }
  // This process takes over what the one before has noted: at least nine of the fifteen minutes.
  await using after = createDeliveryWorld({ journal, spreadsheet })
  after.writer.start()
  expect(await written(after)).toBeLessThan(7 * minute)
})

test('the markers of an earlier process age from the start of the next one, before it writes a batch', async () => {
  const journal = openSqliteJournal(':memory:')
  const alive = changed(journal, { [Symbol.asyncDispose]: async () => undefined })
  await journal.delivery.noteFact(...knownToHold)
  const spreadsheet = new ScriptedSpreadsheet({ markers: { max: 1, idMax: 1000 } })
  {
    await using it = createDeliveryWorld({ journal: alive, spreadsheet })
    it.writer.start()
    await written(it)
  }
  await using after = createDeliveryWorld({ journal, spreadsheet })
  after.writer.start()
  await after.clock.run(16 * minute)
  expect(await written(after)).toBeLessThan(second)
})

test('the marker of a batch that an earlier process has settled as its last act stays for 65 minutes', async () => {
  const journal = openSqliteJournal(':memory:')
  await journal.delivery.noteFact(...knownToHold)
  await journal.intake.append([makeSignup()])
  const batch = await freezeNext(journal.delivery)
  await journal.delivery.settle(batch?.number ?? 0, 0)
  const spreadsheet = new ScriptedSpreadsheet({ markers: { max: 1, idMax: 1000 } })
  spreadsheet.markers.add(batch?.marker ?? 0)
  await using it = createDeliveryWorld({ journal, spreadsheet })
  it.writer.start()
  expect(await written(it)).toBeGreaterThan(64 * minute)
})
