import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { testPatienceMs } from './harness/patience.ts'
import { roomOf } from './scripts/mutated-rooms.ts'

/** Tests beside their sources take milliseconds and come first: the first failure ends the run of a change. */
class UnitsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (moduleId.includes('/src/') ? 0 : 1)
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => rank(one) - rank(other))
  }
}

/** The tests of `npm run mutate` for one room. */
export default defineConfig({
  test: {
    include: [...roomOf(process.env['MUTATED_ROOM']).tests],
    isolate: false,
    testTimeout: testPatienceMs,
    hookTimeout: testPatienceMs,
    sequence: { sequencer: UnitsFirst },
  },
})
