import { test } from 'vitest'
import { expectToSurvive } from '../crash/instances-rounds.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test('every signup is one row in 50 rounds of kills, stops and restarts with three instances on one database', async () => {
  await expectToSurvive({ rounds: 50, seed })
})
