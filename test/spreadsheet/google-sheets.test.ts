import { fieldsContract } from './fields-contract.ts'
import { describe, expect, test } from 'vitest'

import { systemClock } from '../../src/platform/clock.ts'
import { httpClient } from '../../src/platform/node/http-client.ts'
import { keyTokens } from '../../src/spreadsheet/google/access-token.ts'
import { createGoogleSheets } from '../../src/spreadsheet/google/google-sheets.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { makeBatch, spreadsheetContract, testSignal } from './spreadsheet-contract.ts'

spreadsheetContract('Google Sheets', {
  createWorld: createGoogleWorld,
  readsFormulaAs: (text) => text,
})

fieldsContract('Google Sheets', createGoogleWorld)

test.each([
  ['https://sheets.googleapis.com', 'https://docs.google.com/spreadsheets/d/1abc/edit'],
  ['http://127.0.0.1:9', 'http://127.0.0.1:9/spreadsheets/1abc'],
  ['https://x.googleapis.com.example', 'https://x.googleapis.com.example/spreadsheets/1abc'],
])('a person finds the spreadsheet behind %s at %s', (apiUrl, location) => {
  const access = { email: 'robot@example.com', spreadsheetId: '1abc', setting: 'SHEETS_SHEET_ID' }
  const robot = { email: access.email, sign: async () => '' }
  const spreadsheet = createGoogleSheets({
    ...{ access, apiUrl, tokenUrl: apiUrl, ask: keyTokens(robot), gate: async () => true },
    ...{ http: httpClient, clock: systemClock, random: Math.random },
  })
  expect(spreadsheet.location).toBe(location)
})

test('a spreadsheet has a warning while it is nearly full', async () => {
  await using world = await createGoogleWorld()
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  const spreadsheet = world.connect()
  await spreadsheet.open(testSignal)
  expect(spreadsheet.warnings).toEqual([])
  sheet.resizeTab('Sheet1', { rowCount: 1_200_000, columnCount: 7 })
  await spreadsheet.write(makeBatch(1, { Sheet1: [makeFullSignup()] }), testSignal)
  expect(spreadsheet.warnings).toEqual([
    { kind: 'nearlyFull', message: expect.stringMatching(/84 % full: 8400000 of .*10000000/) },
  ])
  sheet.resizeTab('Sheet1', { rowCount: 1000, columnCount: 7 })
  await spreadsheet.write(makeBatch(2, { Sheet1: [makeFullSignup()] }), testSignal)
  expect(spreadsheet.warnings).toEqual([])
})

test('a full spreadsheet refuses a batch in the words of Google, and takes it when there is room', async () => {
  await using world = await createGoogleWorld({ model: { cellsMax: 8000 } })
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  sheet.resizeTab('Sheet1', { rowCount: 1000, columnCount: 7 })
  const spreadsheet = world.connect()
  await spreadsheet.open(testSignal)
  const batch = makeBatch(1, { News: [makeFullSignup()] })
  expect(await spreadsheet.write(batch, testSignal)).toMatchObject({
    kind: 'refused',
    reason: 'full',
    message: expect.stringContaining('above the limit of'),
  })
  expect(await world.rows('News')).toBeUndefined()
  sheet.resizeTab('Sheet1', { rowCount: 100 })
  expect(await spreadsheet.write(batch, testSignal)).toEqual({ kind: 'applied' })
  expect(await world.rows('News')).toHaveLength(2)
})

test('in a copy of a spreadsheet, which has our markers too, a batch does not count as applied', async () => {
  await using world = await createGoogleWorld()
  const first = world.connect()
  await first.write(makeBatch(1, { Sheet1: [makeFullSignup()] }), testSignal)
  const copy = world.emulator.spreadsheet(world.spreadsheetId).copy()
  copy.share(world.email, 'editor')
  const second = world.connect(copy.id)
  expect(await second.open(testSignal)).toEqual({ kind: 'open' })
  const batch = makeBatch(1, { Sheet1: [makeFullSignup()] })
  expect(await second.write(batch, testSignal)).toMatchObject({ kind: 'foreign' })
})

test('all markers together take at most 18,000 of the 30,000 characters of a spreadsheet', async () => {
  await using world = await createGoogleWorld()
  const spreadsheet = world.connect()
  const batch = makeBatch(1, { Sheet1: [makeFullSignup()] })
  const longest = { ...batch, fingerprint: 'x'.repeat(41), marker: 2 ** 31 - 1 }
  expect(await spreadsheet.abandon(longest, testSignal)).toEqual({ kind: 'abandoned' })
  const [marker] = world.emulator.spreadsheet(world.spreadsheetId).metadata()
  const characters = `${marker?.metadataKey}${marker?.metadataValue}`.length
  expect(characters).toBeGreaterThan(0)
  expect(characters * spreadsheet.profile.markers.max).toBeLessThanOrEqual(18_000)
})

test('after a 401 a batch is sent again only if it is still frozen', async () => {
  await using world = await createGoogleWorld()
  const spreadsheet = world.connect()
  await spreadsheet.open(testSignal)
  for (const [index, isFrozen] of [false, true].entries()) {
    world.emulator.faults.add({ on: 'batchUpdate', answer: 'unauthenticated' })
    const answers = [true, isFrozen]
    const batch = makeBatch(index + 1, { Sheet1: [makeFullSignup()] })
    const outcome = await spreadsheet.write(batch, testSignal, async () => answers.shift() ?? false)
    expect(outcome.kind).toBe(isFrozen ? 'applied' : 'retryable')
  }
  expect(await world.rows('Sheet1')).toHaveLength(2)
})

test('a batch that has ended while the access token was fetched is not sent', async () => {
  await using world = await createGoogleWorld()
  const kinds = () => world.emulator.log.calls().map(({ kind }) => kind)
  const batch = makeBatch(1, { Sheet1: [makeFullSignup()] })
  const outcome = await world.connect().write(batch, testSignal, async () => {
    expect(kinds()).toContain('token')
    return false
  })
  expect(outcome.kind).toBe('retryable')
  expect(kinds()).not.toContain('batchUpdate')
})

test('a tab that somebody empties gets the header again when no batch came for a minute', async () => {
  await using world = await createGoogleWorld()
  const clock = new ManualClock(Date.now())
  const spreadsheet = world.connect(world.spreadsheetId, clock)
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  const write = async (id: number) => {
    const before = world.emulator.log.calls().length
    await spreadsheet.write(makeBatch(id, { News: [makeFullSignup()] }), testSignal)
    return world.emulator.log.calls().length - before
  }
  await write(1)
  sheet.deleteRows('News', 1, 2)
  // The first batch does not look, because a look before each batch would double the calls.
  expect(await write(2)).toBe(1)
  expect(await world.rows('News')).toHaveLength(1)
  sheet.deleteRows('News', 1, 1)
  await clock.run(61_000)
  expect(await write(3)).toBe(3)
  const firstCells = ((await world.rows('News')) ?? []).map(([cell]) => cell)
  expect(firstCells).toEqual(['Email', expect.stringContaining('@')])
  await clock.run(61_000)
  expect(await write(4)).toBe(2)
  expect(await world.rows('News')).toHaveLength(3)
  expect(await write(5)).toBe(1)
})

describe('a tab that Google does not let us use', () => {
  test('a tab is refused by itself when Google takes its name for that of another tab', async () => {
    await using world = await createGoogleWorld({ model: { titles: 'case folding' } })
    const spreadsheet = world.connect()
    await spreadsheet.write(makeBatch(1, { Newsletter: [makeFullSignup()] }), testSignal)
    const mixed = makeBatch(2, { Guests: [makeFullSignup()], newſletter: [makeFullSignup()] })
    expect(await spreadsheet.write(mixed, testSignal)).toMatchObject({ kind: 'retryable' })
    expect(await spreadsheet.write(mixed, testSignal)).toMatchObject({
      kind: 'refused',
      reason: 'tabName',
      tab: { name: 'newſletter', place: expect.stringMatching(/^a tab that is not there yet/) },
      message: expect.stringContaining('A sheet with the name "…" already exists'),
      hint: expect.stringContaining('SHEET_TABS'),
    })
    expect(await world.rows('Guests')).toBeUndefined()
  })

  test('a tab is refused by itself when it is a chart', async () => {
    await using world = await createGoogleWorld()
    const sheets = [{ properties: { sheetId: 7, title: 'Chart1', sheetType: 'OBJECT' } }]
    const answer = { status: 200, body: JSON.stringify({ sheets }) }
    world.emulator.faults.add({ on: 'get', answer })
    const batch = makeBatch(1, { chart1: [makeFullSignup()] })
    expect(await world.connect().write(batch, testSignal)).toMatchObject({
      kind: 'refused',
      reason: 'noCells',
      message: expect.stringContaining('a chart'),
      hint: expect.stringMatching(/^Rename that tab/),
      tab: { name: 'chart1', place: 'the tab at place 1 (gid=7)' },
    })
  })
})

test('a hundred tabs with the longest names are read in calls whose paths have at most 4,500 characters', async () => {
  await using world = await createGoogleWorld()
  const names = Array.from({ length: 100 }, (_, index) => `${'表'.repeat(97)}${100 + index}`)
  for (const name of names) await world.createTab(name, [])
  const batch = makeBatch(1, Object.fromEntries(names.map((name) => [name, [makeFullSignup()]])))
  expect(await world.connect().write(batch, testSignal)).toEqual({ kind: 'applied' })
  expect(await world.rows(names[99] ?? '')).toHaveLength(2)
  const lengths = world.emulator.log.calls().map(({ path }) => path.length)
  expect(Math.max(...lengths)).toBeLessThan(4500)
})

test('a tab gets its header row and its rows by one appendCells, and only the header is bold', async () => {
  await using world = await createGoogleWorld()
  const batch = makeBatch(1, { Sheet1: [makeFullSignup()], News: [makeFullSignup()] })
  expect(await world.connect().write(batch, testSignal)).toEqual({ kind: 'applied' })
  const [call] = world.emulator.log.calls('batchUpdate')
  const kinds = call?.requests ?? []
  expect(kinds.filter((kind) => kind === 'appendCells')).toHaveLength(2)
  for (const tab of ['Sheet1', 'News']) {
    const cells = world.emulator.spreadsheet(world.spreadsheetId).cells(tab)
    const bold = cells.map(([cell]) => cell?.userEnteredFormat?.textFormat?.bold)
    expect(bold).toEqual([true, undefined])
  }
})
