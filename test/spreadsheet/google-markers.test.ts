import { describe, expect, test } from 'vitest'

import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { makeFullSignup } from '../../harness/make-signup.ts'
import { makeBatch, rowsOf, testSignal } from './spreadsheet-contract.ts'

/** Markers keep late and repeated batches out of a spreadsheet in Google Sheets. */

const applied = { kind: 'applied' }
const abandoned = { kind: 'abandoned' }
const batch = (number: number) => makeBatch(number, { News: [makeFullSignup()] })

function markersIn(world: GoogleWorld): unknown[] {
  return world.emulator
    .spreadsheet(world.spreadsheetId)
    .metadata()
    .map(({ metadataId }) => metadataId)
}

const callsOf = ({ emulator }: GoogleWorld) => emulator.log.calls().map(({ kind }) => kind)

/** A spreadsheet with the markers of three batches. */
async function worldWithMarkers() {
  const world = await createGoogleWorld()
  const spreadsheet = world.connect()
  const [first, second, third] = [batch(1), batch(2), batch(3)]
  for (const one of [first, second, third]) {
    expect(await spreadsheet.write(one, testSignal)).toEqual(applied)
  }
  world.emulator.log.reset()
  return Object.assign(world, { spreadsheet, first, second, third })
}

describe('pruning', () => {
  test('deletes the given markers that are there, and no others', async () => {
    await using world = await worldWithMarkers()
    const { spreadsheet, first, second, third } = world
    const old = [first.marker, third.marker, 999]
    expect(await spreadsheet.prune(old, testSignal)).toMatchObject({ kind: 'pruned' })
    expect(markersIn(world)).toEqual([second.marker])
    expect(callsOf(world)).toEqual(['developerMetadata.search', 'batchUpdate'])
    expect(await spreadsheet.prune(old, testSignal)).toMatchObject({ kind: 'pruned' })
    expect(callsOf(world).slice(2)).toEqual(['developerMetadata.search'])
  })

  test('tells which other markers stand in the spreadsheet', async () => {
    await using world = await worldWithMarkers()
    const { spreadsheet, first, second, third } = world
    await spreadsheet.abandon(batch(4), testSignal)
    const others = [second, third, batch(4)]
    for (const time of ['first', 'again']) {
      const pruned = await spreadsheet.prune([first.marker], testSignal)
      const told = others.map(({ marker, fingerprint }) => ({ marker, fingerprint }))
      expect(pruned, time).toEqual({ kind: 'pruned', others: told })
    }
  })

  test('leaves the developer metadata of others alone', async () => {
    await using world = await worldWithMarkers()
    const state = world.emulator.model.find(world.spreadsheetId)
    const [marker] = state.metadata.values()
    if (!marker) throw new Error('There is no marker to copy.')
    state.metadata.set(5, { ...marker, id: 5, key: 'of somebody else' })
    expect(await world.spreadsheet.prune([5], testSignal)).toMatchObject({ kind: 'pruned' })
    expect(markersIn(world)).toContain(5)
  })

  test.each([
    ['developerMetadata.search', 'drop', 'retryable', 3],
    ['developerMetadata.search', 'notShared', 'refused', 3],
    ['batchUpdate', 'drop', 'unknown', 2],
    ['batchUpdate', 'quota', 'retryable', 3],
  ] as const)('reports a call that fails: %s with "%s" is %s', async (on, answer, kind, left) => {
    await using world = await worldWithMarkers()
    world.emulator.faults.add({ on, answer, apply: left === 2 ? 'now' : 'never' })
    const old = [world.first.marker]
    expect(await world.spreadsheet.prune(old, testSignal)).toMatchObject({ kind })
    expect(markersIn(world)).toHaveLength(left)
    expect(await world.spreadsheet.prune(old, testSignal)).toMatchObject({ kind: 'pruned' })
    expect(markersIn(world)).toHaveLength(2)
  })

  test('is not over when the answer shows only some of the markers', async () => {
    await using world = await worldWithMarkers()
    const { first, second } = world
    const deletedDeveloperMetadata = [{ metadataId: first.marker }]
    const replies = [{ deleteDeveloperMetadata: { deletedDeveloperMetadata } }, {}]
    const answer = { status: 200, body: JSON.stringify({ replies }) }
    world.emulator.faults.add({ on: 'batchUpdate', answer })
    const outcome = await world.spreadsheet.prune([first.marker, second.marker], testSignal)
    expect(outcome).toMatchObject({ kind: 'unknown', message: expect.stringMatching(/markers$/) })
  })
})

describe('a batch whose marker id is in use by something else', () => {
  test('was not applied, and may have another id', async () => {
    await using world = await worldWithMarkers()
    const foreign = { ...batch(4), marker: world.first.marker }
    expect(await world.spreadsheet.write(foreign, testSignal)).toEqual({
      kind: 'foreign',
      message: `The developer metadata id ${foreign.marker} is in use by something else`,
    })
    expect(await world.spreadsheet.write({ ...foreign, marker: 4 }, testSignal)).toEqual(applied)
    expect((await world.rows('News'))?.at(-1)).toEqual(rowsOf('News', foreign)[0])
  })

  test('is given up as it is', async () => {
    await using world = await worldWithMarkers()
    const foreign = { ...batch(4), marker: world.first.marker }
    expect(await world.spreadsheet.abandon(foreign, testSignal)).toEqual(abandoned)
    expect(markersIn(world)).toHaveLength(3)
  })
})

describe('giving a batch up', () => {
  test.each([
    ['drop', 'unknown'],
    ['html200', 'unknown'],
    ['notShared', 'refused'],
    ['quota', 'retryable'],
  ] as const)('reports a call that fails, and is done later: "%s" is %s', async (answer, kind) => {
    await using world = await worldWithMarkers()
    const given = batch(4)
    world.emulator.faults.add({ on: 'batchUpdate', answer })
    expect(await world.spreadsheet.abandon(given, testSignal)).toMatchObject({ kind })
    expect(await world.spreadsheet.abandon(given, testSignal)).toEqual(abandoned)
    expect(await world.spreadsheet.write(given, testSignal)).toEqual(abandoned)
    expect(await world.rows('News')).toHaveLength(4)
  })

  test('is not sent when the batch has ended meanwhile', async () => {
    await using world = await worldWithMarkers()
    const outcome = await world.spreadsheet.abandon(batch(4), testSignal, async () => false)
    expect(outcome.kind).toBe('retryable')
    expect(markersIn(world)).toHaveLength(3)
  })

  test('says that the batch was applied when only its answer was lost', async () => {
    await using world = await worldWithMarkers()
    world.emulator.faults.add({ on: 'batchUpdate', apply: 'now', answer: 'drop' })
    const lost = batch(4)
    expect(await world.spreadsheet.write(lost, testSignal)).toMatchObject({ kind: 'unknown' })
    expect(await world.spreadsheet.abandon(lost, testSignal)).toEqual(applied)
  })
})

test.each([
  ['unavailable', { kind: 'retryable' }],
  ['drop', { kind: 'retryable' }],
  ['notFound', { kind: 'retryable', message: 'Requested entity was not found' }],
  ['notShared', { kind: 'refused' }],
] as const)(
  'when it cannot be asked whose the marker is ("%s"), nothing is said about the batch',
  async (answer, outcome) => {
    await using world = await worldWithMarkers()
    const { spreadsheet, third } = world
    for (const ask of ['write', 'abandon'] as const) {
      world.emulator.faults.add({ on: 'developerMetadata.get', answer })
      expect(await spreadsheet[ask](third, testSignal)).toMatchObject(outcome)
      expect(await spreadsheet[ask](third, testSignal)).toEqual(applied)
    }
  },
)
