import { expect, test } from 'vitest'

import { drawStoppedWriters } from './draw-schedule.ts'
import { runSchedule } from './world.ts'

/** Few enough that a change of the sources is tried within seconds. `npm test` runs many more. */
const schedulesOfTest = 40

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'delivery keeps every invariant of the simulation, share %i',
  async (share) => {
    for (let seed = share * schedulesOfTest; seed < (share + 1) * schedulesOfTest; seed++) {
      expect((await runSchedule(seed)).violation, `seed ${seed}`).toBeUndefined()
    }
  },
)

test('delivery keeps every invariant when writers are stopped and go on after hours', async () => {
  for (let seed = 0; seed < 2; seed++) {
    const { violation } = await runSchedule(seed, { draw: drawStoppedWriters })
    expect(violation, `seed ${seed}`).toBeUndefined()
  }
})
