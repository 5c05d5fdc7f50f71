// @module-tag slow
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { execPath } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { seededRandom } from '../../emulators/google-sheets/faults.ts'
import { columns } from '../../src/signup/row.ts'
import { numberedBatch } from '../../harness/numbered-batch.ts'
import { createWorkbookWorld } from '../../harness/workbook-world.ts'
import { rowsOf } from '../spreadsheet/spreadsheet-contract.ts'
import { testWorkbookCrashes, writeAll } from './workbook-crashes.ts'

testWorkbookCrashes([0, 0.03, 0.5, 0.97, 0.999, 1], 200)

test('after 40 kills at random moments the workbook has every row once and in order', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  console.log(`The seed of the kill test is ${seed}. SEED=${seed} repeats its delays.`)
  const random = seededRandom(seed)
  await using world = await createWorkbookWorld()
  let last = 0
  for (let kill = 0; kill < 40; kill += 1) {
    last = await writeUntilKilled(world.directory, last + 1, random() * 40)
  }
  await writeAll(world, numberedBatch(last + 1), numberedBatch(last + 2))

  const batches = Array.from({ length: last + 2 }, (_, index) => numberedBatch(index + 1))
  expect(batches.length).toBeGreaterThan(40)
  for (const tab of new Set(batches.flatMap(({ tabs }) => tabs.map((part) => part.tab)))) {
    expect(await world.rows(tab), tab).toEqual([[...columns], ...rowsOf(tab, ...batches)])
  }
})

/** Starts a process that writes batches from `first` on, and kills it. Returns the last batch that it reported. */
async function writeUntilKilled(
  directory: string,
  first: number,
  delayMs: number,
): Promise<number> {
  const script = fileURLToPath(new URL('workbook-child.ts', import.meta.url))
  const child = spawn(execPath, [script, directory, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  const closed = once(child, 'close')
  // The delay begins with the first output, as the process only loads before.
  await Promise.race([once(child.stdout, 'data'), closed])
  await sleep(delayMs)
  child.kill('SIGKILL')
  const [, signal] = await closed
  expect(signal).toBe('SIGKILL')
  const numbers = said.split('\n').slice(0, -1)
  return Number(numbers.at(-1) ?? first - 1)
}
