// @module-tag slow
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'

import { flaws, flawsOfShared, flawsOfStopped } from './flaws.ts'
import { expectAllHold } from './expect-all-hold.ts'
import { drawShared } from './draw-shared.ts'
import { drawStoppedWriters } from './draw-schedule.ts'
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

  test.each(Object.entries(flaws))('the simulation finds a planted bug: %s', async (_, flaw) => {
    let violation: string | undefined
    for (let seed = baseSeed; violation === undefined && seed < baseSeed + 1000; seed++) {
      violation = (await runSchedule(seed, { flaw })).violation
    }
    expect(violation).toBeDefined()
  })

  test.each(Object.entries(flawsOfShared))(
    'the simulation finds a planted bug of instances that share a store: %s',
    async (_, flaw) => {
      let violation: string | undefined
      for (let seed = baseSeed; violation === undefined && seed < baseSeed + 300; seed++) {
        violation = (await runSchedule(seed, { flaw, draw: drawShared })).violation
      }
      expect(violation).toBeDefined()
    },
  )

  test.each(Object.entries(flawsOfStopped))(
    'the simulation finds a planted bug when writers are stopped and go on after hours: %s',
    async (_, flaw) => {
      let violation: string | undefined
      for (let seed = baseSeed; violation === undefined && seed < baseSeed + 500; seed++) {
        violation = (await runSchedule(seed, { flaw, draw: drawStoppedWriters })).violation
      }
      expect(violation).toMatch(/a second time/)
    },
  )
})
