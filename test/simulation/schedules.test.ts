import { expect, test } from 'vitest'

import { expectEachHolds } from './expect-all-hold.ts'
import { Truth } from './truth.ts'

const minute = 60_000
const baseSeed = Number(process.env['SIMULATION_SEED'] ?? 1)

test(
  'each signup is written once and in order in a hundred schedules of faults',
  { timeout: 10 * minute },
  async () => {
    await expectEachHolds(baseSeed, 100)
  },
)

const sheetId = 7

test.each<[string, (truth: Truth) => void]>([
  ['B@x.org is in the journal twice', (it) => it.accept('News', 'B@x.org')],
  ['d@x.org was accepted and is not in the journal', (it) => it.promise('d@x.org')],
  ['a@x.org was written to News a second time', (it) => it.applyRow('a@x.org', sheetId, 2)],
  ['c@x.org was written to News where b@x.org was next', (it) => it.applyRow('c@x.org', 7, 2)],
  ['sheet 7 shows "" but got "a@x.org"', (it) => it.checkSheet({ sheetId, rows: [] })],
  ['3 calls came within 59999 ms', (it) => it.countCall(minute)],
  ['4 calls came within 120000 ms', (it) => it.countCall(2 * minute)],
  ['3 markers stand', (it) => it.countMarkers(3)],
])('the simulation finds that %s', (violation, happen) => {
  const truth = new Truth({ perMinute: 2, perDay: 3, markersMax: 2 })
  for (const name of ['a', 'b', 'c']) truth.accept('News', `${name}@x.org`)
  truth.promise('A@x.org')
  truth.applyRow('a@x.org', sheetId, 1)
  truth.checkSheet({ sheetId, rows: [['Email'], ['a@x.org']] })
  for (const at of [0, 1, minute]) truth.countCall(at)
  truth.countMarkers(2)
  expect(truth.violation).toBeUndefined()
  happen(truth)
  expect(truth.violation).toBe(violation)
})
