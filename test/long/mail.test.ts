import { test } from 'vitest'
import { expectMailsToSurvive } from '../crash/mail-rounds.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test.each([
  ['file', 200],
  ['database', 50],
] as const)(
  'on one %s, in %i kills everybody who confirms is one row, no mail goes before its commit, and at most one a kill goes twice',
  async (store, rounds) => {
    await expectMailsToSurvive({ rounds, seed, store })
  },
)
