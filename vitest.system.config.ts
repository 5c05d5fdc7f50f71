import { defineConfig } from 'vitest/config'
import { patienceMs, testPatienceMs } from './harness/patience.ts'

/** `npm run test:system`: with programs of Debian around us, one file after the other. */
export default defineConfig({
  test: {
    include: ['test/system/**/*.test.ts'],
    globalSetup: 'harness/temp-of-run.ts',
    fileParallelism: false,
    testTimeout: testPatienceMs,
    hookTimeout: testPatienceMs,
    expect: { poll: { timeout: patienceMs } },
    allowOnly: false,
  },
})
