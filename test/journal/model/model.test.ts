import { test } from 'vitest'

import { expectAllHold } from './expect-all-hold.ts'
import { sqliteStore } from './sqlite-store.ts'

test('whatever happens in any order, with kills and restores, the journal tells what the contract says', () =>
  expectAllHold(sqliteStore, { sequences: 30, each: 12, seed: 1 }))
