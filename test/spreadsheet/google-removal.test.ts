import { describe, expect, test } from 'vitest'

import type { ModelOptions } from '../../emulators/google-sheets/state.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Signup } from '../../src/signup/signup.ts'
import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { contents, type Handle, people, removeAll, write } from './row-removal-world.ts'
import { testSignal } from './spreadsheet-contract.ts'

const behaviours: readonly ModelOptions['removedDuplicates'][] = ['shift cells up', 'delete rows']

async function createWorld(removedDuplicates: ModelOptions['removedDuplicates']) {
  const google = await createGoogleWorld({ model: { removedDuplicates } })
  const handle = google.emulator.spreadsheet(google.spreadsheetId)
  return { google, handle, [Symbol.asyncDispose]: () => google[Symbol.asyncDispose]() }
}

/** The contents of all rows but those of this person. */
function othersIn(handle: Handle, { email }: Signup): string[] {
  return contents(handle).filter((row) => !row.toLowerCase().includes(email.toLowerCase()))
}

function rowsWith(handle: Handle, { email }: Signup): number {
  return contents(handle).length - othersIn(handle, { email } as Signup).length
}

/** Connects so that a person does something before every call. Each call must leave all others' rows. */
function connectBeside(
  google: GoogleWorld,
  handle: Handle,
  target: Signup,
  act: (call: number) => void,
) {
  let calls = 0
  let expected = othersIn(handle, target)
  const check = () => expect(othersIn(handle, target)).toEqual(expected)
  const spreadsheet = google.connect(google.spreadsheetId, systemClock, Math.random, async () => {
    check()
    act((calls += 1))
    expected = othersIn(handle, target)
  })
  return { spreadsheet, check }
}

describe.each(behaviours)('when a removed duplicate makes Google %s', (behaviour) => {
  test('a row goes, and every other row stays as it is', async () => {
    await using world = await createWorld(behaviour)
    const { google, handle } = world
    const spreadsheet = google.connect()
    const all = people(5)
    await write(spreadsheet, 1, all)
    const [, , target = expect.fail()] = all
    const before = othersIn(handle, target)
    const first = await spreadsheet.remove([target], testSignal)
    expect(first).toEqual({ kind: 'removed', standing: [1] })
    const again = await spreadsheet.remove([target], testSignal)
    expect(again).toEqual({ kind: 'removed', standing: [0] })
    expect(contents(handle)).toEqual(before)
    // Only when cells shift up, an empty row is left.
    const rows = behaviour === 'delete rows' ? 5 : 6
    expect(handle.rowCount('Sheet1')).toBe(rows)
  })

  test('rows of several people, in several tabs and next to each other, go together', async () => {
    await using world = await createWorld(behaviour)
    const { google, handle } = world
    const spreadsheet = google.connect()
    const [one, other] = [people(6), people(6, 'News')]
    await write(spreadsheet, 1, one)
    await write(spreadsheet, 2, other)
    handle.addTab('Copy', handle.rows('News').slice(2, 4))
    const gone = [1, 2, 4].map((at) => one[at] ?? expect.fail())
    await spreadsheet.remove(gone, testSignal)
    const left = ['Sheet1', 'News', 'Copy'].map((tab) =>
      handle.rows(tab).flatMap(([email = '']) => (email.includes('@') ? [email] : [])),
    )
    const kept = [0, 3, 5].map((at) => one[at]?.email)
    expect(left).toEqual([kept, kept, []])
  })

  test('a tab that has nothing but the row and its header is left with the header', async () => {
    await using world = await createWorld(behaviour)
    const { google, handle } = world
    const spreadsheet = google.connect()
    const [target = expect.fail()] = people(1)
    await write(spreadsheet, 1, [target])
    handle.resizeTab('Sheet1', { rowCount: 2, columnCount: 7 })
    await removeAll(spreadsheet, [target])
    expect(handle.rowCount('Sheet1')).toBe(1)
    expect(handle.rows('Sheet1')[0]?.[0]).toBe('Email')
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'whatever a person does between every two calls, and however answers are lost, only rows of the forgotten go (seed %i)',
    async (seed) => {
      await using world = await createWorld(behaviour)
      const { google, handle } = world
      const all = people(8)
      await write(google.connect(), 1, all)
      const target = all[seed % 8] ?? expect.fail()
      const random = seededRandom(seed)
      const { faults } = google.emulator
      faults.add({ on: 'batchUpdate', apply: 'later', times: 2 })
      faults.add({ on: 'batchUpdate', apply: 'now', answer: 'drop', probability: 0.3, times: 3 })
      faults.add({ on: 'batchUpdate', apply: 'twice', probability: 0.3, times: 3 })
      faults.add({ on: 'get', answer: 'internal', probability: 0.2, times: 3 })
      const acts = actsOf(handle, random)
      const act = (call: number) => {
        // In the end the person rests, or the row might never be where it was seen.
        if (call > 25) return
        acts[Math.floor(random() * acts.length)]?.()
        if (random() < 0.2) google.emulator.releaseLate()
      }
      const { spreadsheet, check } = connectBeside(google, handle, target, act)
      expect(await removeAll(spreadsheet, [target])).toBeDefined()
      google.emulator.releaseLate()
      check()
      expect(rowsWith(handle, target)).toBe(0)
    },
  )

  test('a call that is applied late removes nothing, wherever other rows are by then', async () => {
    await using world = await createWorld(behaviour)
    const { google, handle } = world
    const all = people(6)
    await write(google.connect(), 1, all)
    const target = all[2] ?? expect.fail()
    google.emulator.faults.add({ on: 'batchUpdate', apply: 'later' })
    const spreadsheet = google.connect()
    expect(await spreadsheet.remove([target], testSignal)).toMatchObject({
      failure: { kind: 'unknown' },
    })
    await removeAll(spreadsheet, [target])
    handle.sortRows('Sheet1', 0, 'descending')
    const before = handle.rows('Sheet1')
    google.emulator.releaseLate()
    expect(handle.rows('Sheet1')).toEqual(before)
  })
})

/** What a person may do to a spreadsheet with the tab of our rows first. */
function actsOf(handle: Handle, random: () => number): readonly (() => void)[] {
  const tab = () => handle.titles()[0] ?? ''
  const row = () => 2 + Math.floor(random() * handle.rowCount(tab()))
  const column = () => Math.floor(random() * 7)
  let made = 0
  const order = () => (random() < 0.5 ? 'ascending' : 'descending')
  return [
    () => handle.sortRows(tab(), column(), order()),
    () => handle.sortRows(tab(), 0, order()),
    () => handle.insertRows(tab(), row()),
    () => handle.deleteRows(tab(), row()),
    () => handle.renameTab(tab(), `Tab ${(made += 1)}`),
    () => handle.addTab(`New ${(made += 1)}`, [['Email'], ['x@example.com', 'note']]),
    () => handle.moveColumn(tab(), column(), column()),
    () => handle.insertColumns(tab(), column()),
    () => handle.editCell(tab(), `C${row()}`, `note ${(made += 1)}`),
    () => handle.appendRows(tab(), [[`new${(made += 1)}@example.com`, '', 'by hand']]),
    () => undefined,
  ]
}

test('a row whose address a person has changed stays, and one whose time was changed is told', async () => {
  await using world = await createWorld('shift cells up')
  const { google, handle } = world
  const spreadsheet = google.connect()
  const [one = expect.fail(), other = expect.fail()] = people(2)
  await write(spreadsheet, 1, [one, other])
  handle.editCell('Sheet1', 'A2', 'somebody@example.com')
  handle.editCell('Sheet1', 'B3', '2026-11-20')
  const before = handle.rows('Sheet1')
  expect(await spreadsheet.remove([one, other], testSignal)).toEqual({
    kind: 'removed',
    standing: [0, 0],
  })
  expect(handle.rows('Sheet1')).toEqual(before)
})

test('a later signup of the same address keeps its row', async () => {
  await using world = await createWorld('delete rows')
  const { google, handle } = world
  const spreadsheet = google.connect()
  const [first = expect.fail()] = people(1)
  const later = { ...first, receivedAt: first.receivedAt + 1 }
  await write(spreadsheet, 1, [first, later])
  await removeAll(spreadsheet, [first])
  expect(handle.rows('Sheet1').map((row) => row[1])).toEqual([
    'Timestamp',
    new Date(later.receivedAt).toISOString(),
  ])
})

test.each([
  ['another time', 1, { receivedAt: Date.UTC(2026, 10, 21) }],
  ['another name', 3, { name: 'Zoe' }],
])(
  'a later signup of the same address, with %s, keeps its row when a person moves it to where the first one was seen',
  async (_, column, change) => {
    await using world = await createWorld('delete rows')
    const { google, handle } = world
    const [first = expect.fail()] = people(1)
    const later = { ...first, ...change }
    await write(google.connect(), 1, [first, later])
    const [, , kept] = handle.rows('Sheet1')
    // The third call is the one that removes.
    const sort = (call: number) => call === 3 && handle.sortRows('Sheet1', column, 'descending')
    const { spreadsheet } = connectBeside(google, handle, first, (call) => void sort(call))
    const wanted = [{ ...first, spared: later.receivedAt === first.receivedAt ? [later] : [] }]
    expect(await spreadsheet.remove(wanted, testSignal)).toMatchObject({ standing: [1] })
    expect(handle.rowCount('Sheet1')).toBe(3)
    await spreadsheet.remove(wanted, testSignal)
    expect(await spreadsheet.remove(wanted, testSignal)).toMatchObject({ standing: [0] })
    expect(handle.rows('Sheet1')).toEqual([expect.anything(), kept])
  },
)

test('a row is found by its metadata when somebody has columns without a timestamp', async () => {
  await using world = await createWorld('delete rows')
  const { google, handle } = world
  handle.addTab('Mine', [['Name', 'Email', 'Metadata']])
  const spreadsheet = google.connect()
  const all = people(3, 'Mine')
  await write(spreadsheet, 1, all)
  await removeAll(spreadsheet, all.slice(1, 2))
  expect(handle.rows('Mine').map((row) => row[1])).toEqual(['Email', all[0]?.email, all[2]?.email])
})

test('a tab that is protected holds no other back', async () => {
  await using world = await createWorld('delete rows')
  const { google, handle } = world
  const spreadsheet = google.connect()
  const [one = expect.fail()] = people(1)
  const other = { ...one, sheetTab: 'News' }
  await write(spreadsheet, 1, [one])
  await write(spreadsheet, 2, [other])
  handle.protectTab('Sheet1')
  const result = await spreadsheet.remove([one], testSignal)
  expect(result).toMatchObject({ standing: [2], failure: { reason: 'protectedTab' } })
  expect(handle.rowCount('News')).toBe(1)
  expect(handle.rowCount('Sheet1')).toBe(2)
})

test('while Google cannot read a title in a range, no row is said to be gone', async () => {
  await using google = await createGoogleWorld({ model: { unreadableTitles: ['Odd'] } })
  const handle = google.emulator.spreadsheet(google.spreadsheetId)
  const spreadsheet = google.connect()
  const [one = expect.fail(), other = expect.fail()] = people(2)
  await write(spreadsheet, 1, [one, other])
  handle.addTab('Odd', handle.rows('Sheet1'))
  expect(await spreadsheet.remove([one], testSignal)).toMatchObject({
    kind: 'retryable',
    message: expect.stringContaining('Google cannot read its title: rename it'),
  })
  handle.renameTab('Odd', 'One')
  expect(await removeAll(spreadsheet, [one])).toBeDefined()
  expect([rowsWith(handle, one), rowsWith(handle, other)]).toEqual([0, 2])
})

test('all rows of a tab go after one search, a hundred with one call, from the last one up', async () => {
  await using world = await createWorld('delete rows')
  const { google, handle } = world
  const spreadsheet = google.connect()
  const all = people(230)
  await write(spreadsheet, 1, all)
  await spreadsheet.remove([...all, ...all], testSignal)
  expect(handle.rows('Sheet1').map(([email]) => email)).toEqual(['Email'])
  expect(google.emulator.counters.writes).toBe(4)
})

test('a row is found in a long tab, far below', async () => {
  await using world = await createWorld('delete rows')
  const { google, handle } = world
  const spreadsheet = google.connect()
  const all = people(3)
  await write(spreadsheet, 1, all)
  handle.insertRows('Sheet1', 3, 120_000)
  const before = contents(handle).length
  await removeAll(spreadsheet, all.slice(2))
  expect(contents(handle)).toHaveLength(before - 1)
  expect(rowsWith(handle, all[2] ?? expect.fail())).toBe(0)
})

test('a row far below that only its name tells from one to remove keeps its place', async () => {
  await using world = await createWorld('delete rows')
  const { google, handle } = world
  const spreadsheet = google.connect()
  const [first = expect.fail()] = people(1)
  const kept = { ...first, name: 'Zoe' }
  await write(spreadsheet, 1, [kept, first])
  const [, row] = handle.rows('Sheet1')
  handle.insertRows('Sheet1', 2, 30_000)
  await spreadsheet.remove([{ ...first, spared: [kept] }], testSignal)
  expect(
    handle
      .rows('Sheet1')
      .filter((cells) => cells.length > 0)
      .slice(1),
  ).toEqual([row])
})
