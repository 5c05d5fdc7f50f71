// @module-tag slow
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'

import { expectAllHold } from './expect-all-hold.ts'
import { runSchedule } from './world.ts'

const minute = 60_000
/** The same schedules each time: only a change can break a run. `npm run test:long` draws other ones. */
const baseSeed = Number(process.env['SIMULATION_SEED'] ?? 1)

describe(`delivery in simulated time (base seed ${baseSeed})`, () => {
  test(
    'each signup is written once and in order under every fault, and no quota is exceeded',
    { timeout: 60 * minute },
    () => expectAllHold(baseSeed, 2_500),
  )

  test('a seed gives the same trace, line for line, whenever it is run', async () => {
    const told = async (seed: number) => {
      const trace: string[] = []
      await runSchedule(seed, { trace })
      expect(trace.length).toBeGreaterThan(3)
      return createHash('sha256').update(trace.join('\n')).digest('hex')
    }
    const seeds = Array.from({ length: 100 }, (_, index) => baseSeed + index)
    const first = []
    for (const seed of seeds) first.push(await told(seed))
    const second = []
    for (const seed of seeds.toReversed()) second.unshift(await told(seed))
    expect(second).toEqual(first)
    expect(new Set(first).size).toBe(seeds.length)
  })
})
