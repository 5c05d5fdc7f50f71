import { defineConfig } from 'vitest/config'

/** `npm run test:live`: against a real spreadsheet, one call after the other, at Google's pace. */
export default defineConfig({
  test: {
    include: ['test/live/*.live.ts'],
    fileParallelism: false,
    testTimeout: 10 * 60 * 1000,
    hookTimeout: 10 * 60 * 1000,
  },
})
