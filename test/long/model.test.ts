import { test } from 'vitest'

import { expectAllHold } from '../journal/model/expect-all-hold.ts'
import { sqliteStore } from '../journal/model/sqlite-store.ts'

const hour = 60 * 60_000

test(
  'in sequences that nobody has drawn before, the journal tells what the contract says',
  { timeout: 2 * hour },
  () => expectAllHold(sqliteStore, { sequences: 5_000, each: 40 }),
)
