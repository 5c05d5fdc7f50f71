import { test } from 'vitest'

import { expectAllHold } from '../simulation/expect-all-hold.ts'

const minute = 60_000
const baseSeed = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000_000)

test(
  'each signup is written once and in order in twenty thousand more schedules',
  { timeout: 60 * minute },
  () => expectAllHold(baseSeed, 20_000),
)
