import { test } from 'vitest'
import { expectMailsToSurvive } from '../crash/mail-rounds.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test('in 200 kills everybody who confirms is one row, no mail goes before its commit, and at most one a kill goes twice', async () => {
  await expectMailsToSurvive({ rounds: 200, seed })
})
