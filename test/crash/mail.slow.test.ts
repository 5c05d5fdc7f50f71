// @module-tag slow
import { test } from 'vitest'
import { expectMailsToSurvive } from './mail-rounds.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test('in 25 kills everybody who confirms is one row, no mail goes before its commit, and at most one a kill goes twice', async () => {
  await expectMailsToSurvive({ rounds: 25, seed })
})
