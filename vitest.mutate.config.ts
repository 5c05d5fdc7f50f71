import { defineConfig } from 'vitest/config'

import { testPatienceMs } from './harness/patience.ts'
import { roomOf } from './scripts/mutated-rooms.ts'

/** The tests of `npm run mutate` for one room. */
export default defineConfig({
  test: {
    include: [...roomOf(process.env['MUTATED_ROOM']).tests],
    isolate: false,
    testTimeout: testPatienceMs,
    hookTimeout: testPatienceMs,
  },
})
