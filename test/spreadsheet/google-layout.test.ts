import { describe, expect, test } from 'vitest'

import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { columns } from '../../src/signup/row.ts'
import { makeBatch, rowsOf, testSignal } from './spreadsheet-contract.ts'

/** What Rollcall makes of the tabs that it finds, makes and remembers. */

const header = [...columns]
const applied = { kind: 'applied' }

/** A world, and a function that writes one row into each of these tabs. */
async function openWorld(prepare: (sheet: SpreadsheetHandle) => void = () => undefined) {
  const world = await createGoogleWorld({ logBodies: true })
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  prepare(sheet)
  const clock = new ManualClock(Date.now())
  const spreadsheet = world.connect(undefined, clock)
  await spreadsheet.open(testSignal)
  let number = 0
  const nextBatch = (...tabs: string[]) =>
    makeBatch((number += 1), Object.fromEntries(tabs.map((tab) => [tab, [makeFullSignup()]])))
  return Object.assign(world, {
    ...{ sheet, clock, spreadsheet, nextBatch },
    async write(...tabs: string[]) {
      world.emulator.log.reset()
      const batch = nextBatch(...tabs)
      expect(await spreadsheet.write(batch, testSignal)).toEqual(applied)
      return batch
    },
    /** The kinds of the calls that the last write took. */
    calls: () => world.emulator.log.calls().map(({ kind }) => kind),
    /** The kinds of the requests of the last batch. */
    requests: () => world.emulator.log.calls('batchUpdate').at(-1)?.requests,
  })
}

describe('a tab that is narrower than our row', () => {
  test.each([
    ['is empty', [], header],
    ['has data of others', [['Guests', 'Table']], ['Guests', 'Table', '', '', '', '', '']],
  ])('gets the columns that it lacks when it %s', async (_, rows, first) => {
    await using world = await openWorld((sheet) => {
      sheet.addTab('News', rows)
      sheet.resizeTab('News', { columnCount: 3 })
    })
    const batch = await world.write('News')
    expect(await world.rows('News')).toEqual([first, ...rowsOf('News', batch)])
    expect(world.sheet.tab('News').gridProperties?.columnCount).toBe(7)
    await world.write('News')
    expect(world.requests()).toEqual(['createDeveloperMetadata', 'appendCells'])
  })

  test('stays as it is when its own header or table is that narrow', async () => {
    await using world = await openWorld((sheet) => {
      for (const tab of ['News', 'Events']) {
        sheet.addTab(tab, [['Name', 'Email']])
        sheet.resizeTab(tab, { columnCount: 2 })
      }
      sheet.convertToTable('Events')
    })
    await world.write('News', 'Events')
    for (const tab of ['News', 'Events']) {
      expect(world.sheet.tab(tab).gridProperties?.columnCount).toBe(2)
      expect(await world.rows(tab)).toHaveLength(2)
    }
  })
})

test('a header row stays in view, in a tab of a person and in a new one', async () => {
  await using world = await openWorld()
  await world.write('Sheet1', 'News')
  for (const tab of ['Sheet1', 'News']) {
    expect(world.sheet.tab(tab).gridProperties?.frozenRowCount).toBe(1)
  }
})

describe('a new tab', () => {
  test('is known from then on, when it came with a tab that was there', async () => {
    await using world = await openWorld()
    await world.write('Sheet1')
    await world.write('Sheet1', 'News')
    const batch = await world.write('News')
    expect(world.calls()).toEqual(['batchUpdate'])
    expect(world.requests()).toEqual(['createDeveloperMetadata', 'appendCells'])
    expect((await world.rows('News'))?.slice(2)).toEqual(rowsOf('News', batch))
  })

  test('gets an id that no other tab has, also not another new one', async () => {
    await using world = await openWorld()
    // The tab that a new spreadsheet has is number 0.
    const numbers = [0, 0.5, 0.5, 0, 0.25]
    const spreadsheet = world.connect(undefined, undefined, () => numbers.shift() ?? 1)
    const batch = world.nextBatch('News', 'Events')
    expect(await spreadsheet.write(batch, testSignal)).toEqual(applied)
    const ids = ['Sheet1', 'News', 'Events'].map((tab) => world.sheet.tab(tab).sheetId)
    expect(ids).toEqual([0, 2 ** 30 - 1, 2 ** 29 - 1])
  })

  test('is made again at once when a person has deleted it before another one was made', async () => {
    await using world = await openWorld()
    await world.write('News')
    world.sheet.deleteTab('News')
    await world.write('Events')
    await world.write('News')
    expect(world.calls()).toEqual(['batchUpdate'])
    expect(await world.rows('News')).toHaveLength(2)
  })
})

describe('after a minute without signups', () => {
  test('a table that a person has made meanwhile gets the rows, without a notice', async () => {
    await using world = await openWorld()
    await world.write('News')
    world.sheet.convertToTable('News')
    world.sheet.editCell('News', 'A4', 'a note')
    await world.clock.run(61_000)
    const batch = await world.write('News')
    expect((await world.rows('News'))?.[2]).toEqual(rowsOf('News', batch)[0])
    expect(world.calls()).toEqual(['get', 'batchUpdate'])
  })

  test('a protected tab that a person has renamed is made anew, although no batch was applied to it', async () => {
    await using world = await openWorld()
    await world.write('News')
    await world.clock.run(61_000)
    world.sheet.protectTab('News')
    const refused = world.nextBatch('News')
    expect(await world.spreadsheet.write(refused, testSignal)).toMatchObject({ kind: 'refused' })
    world.sheet.renameTab('News', 'Old news')
    await world.clock.run(61_000)
    const batch = world.nextBatch('News')
    const first = await world.spreadsheet.write(batch, testSignal)
    expect(first).toMatchObject({ kind: 'retryable', afterMs: 0 })
    expect(await world.spreadsheet.write(batch, testSignal)).toEqual(applied)
    expect(await world.rows('News')).toHaveLength(2)
    expect(await world.rows('Old news')).toHaveLength(2)
  })

  test('a batch whose first try was not applied has no notice about columns that have changed since', async () => {
    await using world = await openWorld()
    await world.write('News')
    world.emulator.faults.add({ on: 'batchUpdate', answer: 'drop' })
    const batch = world.nextBatch('News')
    expect(await world.spreadsheet.write(batch, testSignal)).toMatchObject({ kind: 'unknown' })
    world.sheet.insertColumns('News', 0)
    await world.clock.run(61_000)
    expect(await world.spreadsheet.write(batch, testSignal)).toEqual(applied)
    await world.write('News')
    expect((await world.rows('News'))?.map(([first]) => first)).toEqual(['', '', '', ''])
  })
})

describe('between two looks at the tabs', () => {
  const swap = (sheet: SpreadsheetHandle) => {
    sheet.renameTab('News', 'for a moment')
    sheet.renameTab('Events', 'News')
    sheet.renameTab('for a moment', 'Events')
  }

  test('names that a person swapped in a quiet minute are noticed before the next row', async () => {
    await using world = await openWorld()
    const before = await world.write('News', 'Events')
    swap(world.sheet)
    await world.clock.run(61_000)
    const batch = world.nextBatch('News')
    expect(await world.spreadsheet.write(batch, testSignal)).toEqual({
      ...{ kind: 'retryable', message: 'Somebody has renamed tabs', afterMs: 0 },
    })
    expect(await world.spreadsheet.write(batch, testSignal)).toEqual(applied)
    const isOurs = [...rowsOf('Events', before), ...rowsOf('News', batch)]
    expect((await world.rows('News'))?.slice(1)).toEqual(isOurs)
  })

  test('a tab that a person renamed before its first row is made', async () => {
    await using world = await openWorld()
    world.sheet.renameTab('Sheet1', 'Mine')
    const batch = world.nextBatch('Sheet1')
    expect(await world.spreadsheet.write(batch, testSignal)).toMatchObject({
      ...{ kind: 'retryable', afterMs: 0 },
    })
    expect(await world.spreadsheet.write(batch, testSignal)).toEqual(applied)
    expect(await world.rows('Sheet1')).toEqual([header, ...rowsOf('Sheet1', batch)])
    expect(await world.rows('Mine')).toEqual([])
  })
})

test('a title that Google reads in a look, and twice not in a batch, is not asked about again', async () => {
  await using world = await openWorld()
  await world.write('News')
  const body = JSON.stringify({ error: { message: "Unable to parse range: 'News'!A1:ZZ1" } })
  const answer = { status: 400, body }
  world.emulator.faults.add({ on: 'batchUpdate', answer, times: 2 })
  const batch = world.nextBatch('News')
  const again = { kind: 'unknown', afterMs: 0 }
  expect(await world.spreadsheet.write(batch, testSignal)).toMatchObject(again)
  expect(await world.spreadsheet.write(batch, testSignal)).toMatchObject(again)
  expect(await world.spreadsheet.write(batch, testSignal)).toEqual(applied)
  const asked = world.emulator.log.calls('batchUpdate').map(({ body: sent }) => sent)
  const hasRanges = asked.map((sent) => JSON.stringify(sent).includes('responseRanges'))
  expect(hasRanges).toEqual([false, true, true, false])
  await world.write('News')
  expect(await world.rows('News')).toHaveLength(4)
})

test('a title that no range can name gets its rows, at one call a batch, when we made the tab', async () => {
  await using world = await createGoogleWorld({ model: { unreadableTitles: ['Odd'] } })
  const spreadsheet = world.connect()
  const write = async (number: number) => {
    const batch = makeBatch(number, { Odd: [makeFullSignup()] })
    for (let calls = 1; ; calls += 1) {
      const outcome = await spreadsheet.write(batch, testSignal)
      if (outcome.kind === 'applied') return calls
      expect(outcome).toMatchObject({ afterMs: 0 })
    }
  }
  expect([await write(1), await write(2), await write(3)]).toEqual([1, 2, 1])
  expect(await world.rows('Odd')).toHaveLength(4)
})

test('a new tab counts with all its cells when the spreadsheet gets full', async () => {
  await using world = await openWorld((sheet) => sheet.resizeTab('Sheet1', { rowCount: 307_500 }))
  await world.write('Sheet1')
  expect(world.spreadsheet.warnings).toEqual([])
  await world.write('Sheet1', 'News')
  expect(world.spreadsheet.warnings).toMatchObject([
    { kind: 'nearlyFull', message: expect.stringContaining(`${307_500 * 26 + 7000} of`) },
  ])
})

test('a tab that was renamed is still read with each batch, so that later changes are noticed', async () => {
  await using world = await openWorld()
  await world.write('News')
  world.sheet.renameTab('News', 'Old news')
  const batch = world.nextBatch('News')
  expect(await world.spreadsheet.write(batch, testSignal)).toMatchObject({
    ...{ kind: 'unknown', afterMs: 0 },
  })
  expect(await world.spreadsheet.write(batch, testSignal)).toEqual(applied)
  await world.write('Old news')
  expect(world.emulator.log.calls('batchUpdate')[0]?.body).toHaveProperty('responseRanges')
})

test('a tab that got no rows causes no warning about its columns', async () => {
  await using world = await openWorld((sheet) => sheet.addTab('Budget', [['Amount']]))
  const batch = makeBatch(50, { Budget: [], Sheet1: [makeFullSignup()] })
  expect(await world.spreadsheet.write(batch, testSignal)).toEqual(applied)
  expect(world.spreadsheet.warnings).toEqual([])
  await world.write('Budget')
  expect(world.spreadsheet.warnings).toMatchObject([{ kind: 'columns' }])
})
