import { test } from 'vitest'

import { expectAllHold } from '../simulation/expect-all-hold.ts'

const hour = 60 * 60_000
const baseSeed = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000_000)

test(
  `in schedules that nobody has drawn before, each signup is written once and in order (seed ${baseSeed})`,
  { timeout: 2 * hour },
  () => expectAllHold(baseSeed, 20_000),
)
