import { defineConfig } from 'vitest/config'

/** `npm run test:system`: with programs of Debian around us, one file after the other. */
export default defineConfig({
  test: {
    include: ['test/system/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 2 * 60 * 1000,
    hookTimeout: 2 * 60 * 1000,
    expect: { poll: { timeout: 20_000 } },
    allowOnly: false,
  },
})
