import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { patienceMs, testPatienceMs } from './harness/patience.ts'

/** Files that take long begin first, so that no core waits for the last of them. The first mostly waits. */
const longFiles = [
  'test/service/webhooks.slow.test.ts',
  'test/simulation/simulation.slow.test.ts',
  'test/http/time-limits.slow.test.ts',
  'test/crash/kill.slow.test.ts',
  'test/crash/instances.slow.test.ts',
  'test/crash/seats.slow.test.ts',
  'test/crash/workbook.slow.test.ts',
  'test/browser/clients.slow.test.ts',
  'test/pages/browser.slow.test.ts',
  'test/attacks/attacks.slow.test.ts',
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      // Together, as a worker goes on with a file of the same project only.
      if (project.name === 'units') return longFiles.length + 1
      const at = longFiles.findIndex((file) => moduleId.endsWith(file))
      return at === -1 ? longFiles.length : at
    }
    const usual = await super.sort(files)
    return usual.toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    projects: [
      // Tests beside their sources change nothing in their process, so that they can share it.
      {
        extends: true,
        test: { name: 'units', include: ['{src,browser}/**/*.test.ts'], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['{test,harness,emulators,scripts,bench}/**/*.test.ts'],
          exclude: ['**/*.slow.test.ts'],
        },
      },
      { extends: true, test: { name: 'slow', include: ['**/*.slow.test.ts'] } },
    ],
    // What scripts/test.js leaves to `npm run test:slow`. A file `*.slow.test.ts` has the tag as a whole.
    tags: [{ name: 'slow', description: 'Corners, kills and loads.' }],
    // `npm run test:system` and `npm run test:long`
    exclude: [...configDefaults.exclude, 'test/{system,long}/**'],
    sequence: { sequencer: LongFirst },
    // Three on two cores: many tests wait for timers and for other processes.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    globalSetup: 'harness/temp-of-run.ts',
    // Tests start real processes and servers; a busy machine must not fail them.
    testTimeout: testPatienceMs,
    hookTimeout: testPatienceMs,
    expect: { poll: { timeout: patienceMs } },
    allowOnly: false,
  },
})
