import { test } from 'vitest'

import { expectPromisesKept } from '../journal/soak.ts'

test('a minute of two processes on one journal loses nothing and keeps every limit, killed again and again', () =>
  expectPromisesKept(60_000, Number(process.env['SEED'] ?? Date.now() % 1_000_000), 20))
