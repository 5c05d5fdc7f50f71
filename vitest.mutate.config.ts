import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { roomOf } from './scripts/mutated-rooms.ts'

/** A changed source can make a test wait for ever. Without a change the slowest takes a few seconds. */
const endlessTestMs = 120_000

/** Files whose tests take seconds. They come last, the slowest at the end. */
const slowFiles = [
  '/writer.test.ts',
  '/backlog.slow.test.ts',
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
    // A change that hangs ends its process, whose files would fill the disk.
    globalSetup: 'harness/temp-of-run.ts',
    testTimeout: endlessTestMs,
    hookTimeout: endlessTestMs,
    sequence: { sequencer: FastFirst },
  },
})
