// @module-tag slow
import { test } from 'vitest'
import { expectToSurvive } from './instances-rounds.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test('every signup is one row while three instances on one database are killed and stopped, and it is restarted', async () => {
  await expectToSurvive({ rounds: 5, seed })
})
