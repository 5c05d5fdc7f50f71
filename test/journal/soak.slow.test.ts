// @module-tag slow
import { test } from 'vitest'

import { expectPromisesKept } from './soak.ts'

test('a service and a second process on one journal lose nothing and keep every limit for a minute, however often they are killed', () =>
  expectPromisesKept(60_000, Number(process.env['SEED'] ?? Date.now() % 1_000_000), 20))
