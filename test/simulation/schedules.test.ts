import { test } from 'vitest'

import { expectEachHolds } from './expect-all-hold.ts'

const minute = 60_000
const baseSeed = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000_000)

test(
  'each signup is written once and in order in five hundred schedules of faults',
  { timeout: 10 * minute },
  async () => {
    await expectEachHolds(baseSeed, 500)
  },
)
