// @module-tag slow
import { expect, test } from 'vitest'

import { CalmWorld } from './calm-world.ts'

const second = 1000
const minute = 60 * second
const seed = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000_000)

/** Delivers a backlog with calls that take 350 ms on average. Returns how long that took, in milliseconds. */
async function drain(rows: number, rowsMax = 5000): Promise<number> {
  console.log(`drain: seed ${seed}`)
  await using world = new CalmWorld(seed, { travelMaxMs: 525, rowsMax })
  world.signUp(rows)
  await world.runUntil(100 * minute, () => world.truth.rowsApplied === rows)
  expect(world.violation).toBeUndefined()
  expect(world.overQuota).toBe(0)
  expect(world.truth.rowsApplied).toBe(rows)
  return world.time.now
}

test('a backlog of 100,000 signups is in the spreadsheet within 30 seconds', async () => {
  expect(await drain(100_000)).toBeLessThan(30 * second)
})

test('286 full batches, which fill a spreadsheet, are written within 6 minutes', async () => {
  expect(await drain(286 * 100, 100)).toBeLessThan(6 * minute)
})
