import { defineConfig } from 'vitest/config'
import { patienceMs, testPatienceMs } from './harness/patience.ts'

/** `npm run test:long`: attacks at full size; hours, days and a week of the real process by libfaketime. */
export default defineConfig({
  test: {
    include: ['test/long/**/*.test.ts'],
    globalSetup: 'harness/temp-of-run.ts',
    fileParallelism: false,
    testTimeout: 6 * testPatienceMs,
    hookTimeout: testPatienceMs,
    expect: { poll: { timeout: patienceMs } },
    allowOnly: false,
  },
})
