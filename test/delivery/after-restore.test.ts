import { expect, test } from 'vitest'
import { makeSignup, makeSignups } from '../../harness/make-signup.ts'
import { restoredFact } from '../../src/journal/delivery-log.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { RowPart, RowReader } from '../../src/spreadsheet/spreadsheet.ts'
import { createDeliveryWorld, spreadsheetOf, writes } from './writer-world.ts'

const noon = Date.UTC(2026, 10, 20, 12)
const minute = 60 * 1000

/** A restored journal with four waiting signups, of which these have rows, and the restored position. */
async function restoredWorld(withRows: readonly number[], upto = 4) {
  const journal = openSqliteJournal(':memory:')
  const signups = makeSignups(4).map((signup, at) => ({ ...signup, receivedAt: noon + at }))
  await journal.intake.append(signups)
  await journal.delivery.noteFact(restoredFact, String(upto))
  const spreadsheet = spreadsheetOf(300)
  for (const at of withRows) {
    const { email, receivedAt } = signups[at] ?? expect.fail()
    spreadsheet.rows['Sheet1'] = [...(spreadsheet.rows['Sheet1'] ?? []), email]
    spreadsheet.keys.push({ tab: 'Sheet1', key: { email, at: receivedAt } })
  }
  return createDeliveryWorld({ journal, spreadsheet })
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
  expect(world.health.delivery).toMatchObject({ state: 'delayed' })
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
  await using world = await restoredWorld([0, 1, 2], 2)
  world.writer.start()
  await world.delivered(5)
  expect(world.spreadsheet.rows['Sheet1']).toHaveLength(5)
})

test('while people keep changing the rows nothing is written, and later all of it', async () => {
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
  await world.clock.run(20 * minute)
  expect(writes(spreadsheet)).toEqual([])
  expect(world.health.delivery).toMatchObject({ state: 'delayed' })
  isRestless = false
  await world.delivered(4)
  expect(spreadsheet.rows['Sheet1']).toHaveLength(4)
})

test('nothing is written while the title of a tab cannot be read, as rows may be in it', async () => {
  await using world = await restoredWorld([0])
  const { spreadsheet } = world
  let unread = [{ name: 'Odd', place: 'the tab at place 2 (gid=7)' }]
  const real = spreadsheet.rowReader.bind(spreadsheet)
  spreadsheet.rowReader = (): RowReader => {
    const reader = real()
    const next: RowReader['next'] = async (signal) => {
      const part = await reader.next(signal)
      return part.kind === 'end' ? { ...part, unread } : part
    }
    return { ...reader, next }
  }
  world.writer.start()
  await world.clock.run(20 * minute)
  expect(writes(spreadsheet)).toEqual([])
  expect(world.health.delivery).toMatchObject({
    state: 'delayed',
    error: expect.stringContaining('the tab at place 2 (gid=7) in a range: rename that tab'),
  })
  unread = []
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
      next: async () => parts.shift() ?? { kind: 'end', isOneMoment: false, unread: [] },
      [Symbol.asyncDispose]: async () => undefined,
    }
  }
  world.writer.start()
  await world.delivered(4)
  expect(spreadsheet.rows['Sheet1']).toHaveLength(4)
})
