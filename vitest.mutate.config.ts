import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { testPatienceMs } from './harness/patience.ts'
import { roomOf } from './scripts/mutated-rooms.ts'

/** Files whose tests take seconds. They come last, the slowest at the end. */
const slowFiles = [
  '/writer.test.ts',
  '/backlog.test.ts',
  '/google-large-rows.test.ts',
  '.mutate.ts',
]

/** The first failure ends the run of a change, so the fast tests come first: those beside their sources. */
class FastFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  if (moduleId.includes('/src/')) return 0
  return 2 + slowFiles.findIndex((end) => moduleId.endsWith(end))
}

/** The tests of `npm run mutate` for one room. */
export default defineConfig({
  test: {
    include: [...roomOf(process.env['MUTATED_ROOM']).tests],
    isolate: false,
    testTimeout: testPatienceMs,
    hookTimeout: testPatienceMs,
    sequence: { sequencer: FastFirst },
  },
})
