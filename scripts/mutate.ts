/**
 * `npm run mutate -- ROOM… --files GLOB`: changes the sources of a room in one place after the other, and
 * runs the room's tests for each change. Prints each change that no test noticed, and the share that tests
 * noticed. Without a room it goes through all of them, which takes over an hour on two cores.
 */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Stryker } from '@stryker-mutator/core'

import { roomNames, roomOf } from './mutated-rooms.ts'

/** In percent. */
const leastScore = 85

/** How much longer than without a change the tests may take. A busy machine counts as no test that noticed. */
const endlessMs = 30_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { files: { type: 'string' } },
})

for (const room of positionals.length > 0 ? positionals : roomNames) {
  const { sources } = roomOf(room)
  process.env['MUTATED_ROOM'] = room
  console.log(`\n${room}`)
  await new Stryker({
    mutate: values.files === undefined ? [...sources] : [values.files],
    testRunner: 'vitest',
    plugins: [
      '@stryker-mutator/vitest-runner',
      fileURLToPath(new URL('mutation-ignorer.ts', import.meta.url)),
    ],
    ignorers: ['sql'],
    vitest: { configFile: 'vitest.mutate.config.ts', related: false },
    coverageAnalysis: 'perTest',
    // What a module makes once, as its SQL: all tests would run for each, and an emptied text fails most of them.
    ignoreStatic: true,
    concurrency: 2,
    timeoutMS: endlessMs,
    tempDirName: '.mutation/sandbox',
    ignorePatterns: ['.mutation'],
    reporters: ['progress-append-only', 'clear-text', 'json'],
    jsonReporter: { fileName: `.mutation/${room}.json` },
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false },
    thresholds: { high: leastScore, low: leastScore, break: leastScore },
  }).runMutationTest()
}
