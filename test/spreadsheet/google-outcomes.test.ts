import { describe, expect, test } from 'vitest'

import type { Fault } from '../../emulators/google-sheets/faults.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import type { FrozenBatch } from '../../src/signup/batch.ts'
import { columns } from '../../src/signup/row.ts'
import { makeBatch, rowsOf, testSignal } from './spreadsheet-contract.ts'

/** What is reported when calls of Google fail, and when their answers are lost or odd. */

type Answer = NonNullable<Fault['answer']>

const header = [...columns]
const applied = { kind: 'applied' }

/** An opened spreadsheet, and a batch with a row for `Sheet1` and one for a tab that is not there. */
async function openWorld() {
  const world = await createGoogleWorld({ logBodies: true })
  const sheet = world.emulator.spreadsheet(world.spreadsheetId)
  const spreadsheet = world.connect()
  await spreadsheet.open(testSignal)
  return Object.assign(world, { sheet, spreadsheet, batch: mixedBatch(1) })
}

const mixedBatch = (number: number) =>
  makeBatch(number, { Sheet1: [makeFullSignup()], News: [makeFullSignup()] })

async function expectOnce(world: GoogleWorld, ...batches: FrozenBatch[]): Promise<void> {
  for (const tab of ['Sheet1', 'News']) {
    expect(await world.rows(tab), tab).toEqual([header, ...rowsOf(tab, ...batches)])
  }
}

/** The calls of this kind since the start, by the status of their answers. */
const statusesOf = ({ emulator }: GoogleWorld, kind: 'batchUpdate' | 'get') =>
  emulator.log.calls(kind).map(({ status }) => status)

describe('the answer to a batch', () => {
  test.each<Answer>([
    ...(['drop', 'cutOff', 'truncated', 'html200', 'empty200', 'internal', 'badGateway'] as const),
    ...(['unavailable', 'deadline', 'requestTimeout', 'aborted'] as const),
    { status: 200, body: '{}' },
    { status: 200, body: '{"replies":[{}]}' },
    { status: 503, body: '{"error":{"message":"Invalid requests[1].appendCells: No."}}' },
  ])('does not tell whether it was applied, and the next try does: %j', async (answer) => {
    await using world = await openWorld()
    const { spreadsheet, batch } = world
    for (const apply of ['never', 'now'] as const) {
      if (apply === 'never' && (answer === 'cutOff' || answer === 'truncated')) continue
      world.emulator.faults.add({ on: 'batchUpdate', apply, answer })
      const outcome = await spreadsheet.write(batch, testSignal)
      expect(outcome).toMatchObject({ kind: 'unknown', message: expect.stringMatching(/./) })
      expect(outcome).not.toHaveProperty('tab')
    }
    expect(await spreadsheet.write(batch, testSignal)).toEqual(applied)
    await expectOnce(world, batch)
  })

  test('that was lost costs no failing call later, although it told of a new tab', async () => {
    await using world = await openWorld()
    world.emulator.faults.add({ on: 'batchUpdate', apply: 'now', answer: 'drop' })
    await world.spreadsheet.write(world.batch, testSignal)
    await world.spreadsheet.write(world.batch, testSignal)
    const before = statusesOf(world, 'batchUpdate').length
    const next = mixedBatch(2)
    expect(await world.spreadsheet.write(next, testSignal)).toEqual(applied)
    expect(statusesOf(world, 'batchUpdate').slice(before)).toEqual([200])
    await expectOnce(world, world.batch, next)
  })

  test('that shows the marker but no tabs proves that it was applied', async () => {
    await using world = await openWorld()
    const { batch, spreadsheet } = world
    const made = { developerMetadata: { metadataId: batch.marker } }
    const body = JSON.stringify({ replies: [{ createDeveloperMetadata: made }] })
    const answer = { status: 200, body }
    world.emulator.faults.add({ on: 'batchUpdate', apply: 'now', answer })
    expect(await spreadsheet.write(batch, testSignal)).toEqual(applied)
    const next = mixedBatch(2)
    expect(await spreadsheet.write(next, testSignal)).toEqual(applied)
    expect(statusesOf(world, 'batchUpdate')).toEqual([200, 200])
    await expectOnce(world, batch, next)
  })
})

describe.each([
  ['the list of tabs', 0],
  ['the first rows of tabs', 1],
])('a look at %s that fails', (_, skip) => {
  test.each<[Answer, object]>([
    ['drop', { kind: 'retryable' }],
    ['unavailable', { kind: 'retryable' }],
    ['quotaRetryAfter', { kind: 'retryable', afterMs: 7000 }],
    ['notShared', { kind: 'refused', reason: 'permission' }],
    ['notFound', { kind: 'refused', reason: 'notFound' }],
  ])('with "%s" is no unknown outcome, and nothing is written', async (answer, outcome) => {
    await using world = await createGoogleWorld()
    world.emulator.faults.add({ on: 'get', skip, answer })
    const batch = mixedBatch(1)
    const spreadsheet = world.connect()
    expect(await spreadsheet.write(batch, testSignal)).toMatchObject(outcome)
    expect(statusesOf(world, 'batchUpdate')).toEqual([])
    expect(await spreadsheet.write(batch, testSignal)).toEqual(applied)
    await expectOnce(world, batch)
  })
})

test('an answer without tabs may be tried again', async () => {
  await using world = await createGoogleWorld()
  world.emulator.faults.add({ on: 'get', answer: { status: 200, body: '{}' } })
  const spreadsheet = world.connect()
  expect(await spreadsheet.open(testSignal)).toMatchObject({
    ...{ kind: 'retryable', message: expect.stringContaining('without the list of sheets') },
  })
  expect(await spreadsheet.open(testSignal)).toEqual({ kind: 'open' })
})

describe('a title that Google cannot read in a range', () => {
  const unreadable = {
    status: 400,
    body: JSON.stringify({ error: { message: "Unable to parse range: 'News'!A1:ZZ1" } }),
  }

  test('does not keep rows out of its tab, whose cells are never asked for again', async () => {
    await using world = await createGoogleWorld({ logBodies: true })
    await world.createTab('News', [['Notes']])
    world.emulator.faults.add({ on: 'get', skip: 1, answer: unreadable })
    const spreadsheet = world.connect()
    for (const number of [1, 2]) {
      const batch = makeBatch(number, { News: [makeFullSignup()] })
      expect(await spreadsheet.write(batch, testSignal)).toEqual(applied)
    }
    expect(await world.rows('News')).toHaveLength(3)
    const calls = world.emulator.log.calls()
    expect(calls.map(({ kind }) => kind)).toEqual([
      ...['token', 'get', 'get', 'batchUpdate', 'batchUpdate'],
    ])
    for (const { body } of calls.slice(3)) expect(body).not.toHaveProperty('responseRanges')
  })

  test('is looked at again when it may have changed since the tabs were read', async () => {
    await using world = await openWorld()
    await world.createTab('News', [header])
    await world.spreadsheet.open(testSignal)
    world.emulator.faults.add({ on: 'get', answer: unreadable })
    const batch = makeBatch(1, { Sheet1: [makeFullSignup()] })
    expect(await world.spreadsheet.write(batch, testSignal)).toMatchObject({
      kind: 'retryable',
      message: 'Unable to parse range: …',
      afterMs: 0,
    })
    expect(await world.spreadsheet.write(batch, testSignal)).toEqual(applied)
    expect(world.emulator.log.calls('batchUpdate')[0]?.body).toHaveProperty('responseRanges')
  })
})

describe('a refused batch', () => {
  const refused = (message: string) => ({
    status: 400,
    body: JSON.stringify({ error: { message } }),
  })

  test('names the tab that Google’s message is about, and says where it is', async () => {
    await using world = await openWorld()
    world.sheet.addTab('News', [header])
    world.sheet.protectTab('News')
    const sheetId = world.sheet.tab('News').sheetId
    const spreadsheet = world.connect()
    expect(await spreadsheet.write(world.batch, testSignal)).toMatchObject({
      kind: 'refused',
      reason: 'protectedTab',
      tab: { name: 'News', place: `the tab at place 2 (gid=${sheetId})` },
    })
    world.sheet.unprotectTab('News')
    expect(await spreadsheet.write(world.batch, testSignal)).toEqual(applied)
    await expectOnce(world, world.batch)
  })

  test.each([
    'Something is wrong.',
    'Invalid requests[0].createDeveloperMetadata: No.',
    'Invalid requests[99].x: No.',
  ])('names no tab when Google’s message is about none: %s', async (message) => {
    await using world = await openWorld()
    world.emulator.faults.add({ on: 'batchUpdate', answer: refused(message) })
    const outcome = await world.spreadsheet.write(world.batch, testSignal)
    expect(outcome).toMatchObject({ kind: 'refused', message })
    expect(outcome).not.toHaveProperty('tab')
  })

  test('is tried again at once when it may be about a table that is gone, but only once', async () => {
    await using world = await openWorld()
    world.sheet.addTab('News', [header])
    world.sheet.convertToTable('News')
    const aboutTable = refused('Invalid requests[3].appendCells: Whatever Google says.')
    const fault = { on: 'batchUpdate', answer: aboutTable } as const
    await world.spreadsheet.open(testSignal)
    const { spreadsheet, batch } = world
    await spreadsheet.write(makeBatch(7, { News: [] }), testSignal)
    world.emulator.faults.add(fault, fault)
    const told = { message: 'Invalid requests[3].appendCells: Whatever Google says.' }
    expect(await spreadsheet.write(batch, testSignal)).toEqual({
      kind: 'retryable',
      ...told,
      afterMs: 0,
    })
    expect(await spreadsheet.write(batch, testSignal)).toMatchObject({
      ...{ kind: 'refused', ...told, tab: { name: 'News' } },
    })
    expect(await spreadsheet.write(batch, testSignal)).toEqual(applied)
    await expectOnce(world, batch)
  })

  test('is not about a table when it names a tab without one, or is no 400', async () => {
    await using world = await openWorld()
    world.sheet.addTab('News', [header])
    world.sheet.convertToTable('News')
    await world.spreadsheet.write(makeBatch(7, { News: [] }), testSignal)
    const aboutOther = refused('Invalid requests[2].appendCells: Whatever Google says.')
    for (const answer of [aboutOther, 'notShared'] as const) {
      world.emulator.faults.add({ on: 'batchUpdate', answer })
      const outcome = await world.spreadsheet.write(world.batch, testSignal)
      expect(outcome).toMatchObject({ kind: 'refused' })
    }
  })
})
