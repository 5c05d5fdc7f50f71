import { test } from 'vitest'

import { expectEachHolds } from './expect-all-hold.ts'

const minute = 60_000
const baseSeed = Number(process.env['SIMULATION_SEED'] ?? 1)

test(
  'each signup is written once and in order in a hundred schedules of faults',
  { timeout: 10 * minute },
  async () => {
    await expectEachHolds(baseSeed, 100)
  },
)
