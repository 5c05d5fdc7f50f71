/**
 * `npm run bench`: measures Rollcall against baselines. Both take turns in one run, and the result is
 * a ratio. A scenario that fails has a row that says so, the others run, and the exit code is 1.
 *
 *   -- --only bare,bulk   only scenarios whose names begin with one of these
 *   -- --quick            tiny sizes: shows that all runs, and says nothing about speed
 *   -- --record           appends the table to bench/RESULTS.md
 *   -- --against [COMMIT] measures the last commit of this tree beside another instead, by default beside
 *                         the last release, and fails when it needs more than 1.02 of what that needs
 */
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareWith, release } from './against/compare.ts'
import { describeMachine, loadCeiling } from './machine.ts'
import { pinOurselves } from './processes.ts'
import { failedRow, tableHead, tableRow } from './report.ts'
import { fullSizes, quickSizes } from './scenario.ts'
import { scenarios } from './scenarios.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    against: { type: 'boolean', default: false },
  },
})
const names = options.only.split(',')
const chosen = scenarios.filter(({ name }) => names.some((start) => name.startsWith(start)))
if (chosen.length === 0) {
  const known = scenarios.map(({ name }) => name).join(', ')
  throw new Error(`No scenario begins with "${options.only}". There are: ${known}.`)
}
const sizes = options.quick ? quickSizes : fullSizes

const lines: string[] = []
const say = (line: string) => {
  lines.push(line)
  process.stdout.write(`${line}\n`)
}

pinOurselves()
for (const line of await describeMachine()) say(`- ${line}`)
if (options.against) {
  if (await compareWith(positionals[0] ?? release, sizes, say)) process.exitCode = 1
} else {
  await measureScenarios()
}
if (options.record) {
  const title = `## ${new Date().toISOString().slice(0, 10)}${options.quick ? ', quick' : ''}`
  const text = `\n${title}\n\n${lines.join('\n')}\n`
  await appendFile(join(import.meta.dirname, 'RESULTS.md'), text)
}

async function measureScenarios(): Promise<void> {
  say(`- ${await loadCeiling(sizes.sliceSeconds)}`)
  say('')
  for (const line of tableHead) say(line)
  for (const scenario of chosen) {
    try {
      say(tableRow(scenario, await scenario.run(sizes)))
    } catch (error) {
      // Go on: the other scenarios can still be measured.
      process.stderr.write(
        `${scenario.name}: ${error instanceof Error ? error.stack : String(error)}\n`,
      )
      say(failedRow(scenario))
      process.exitCode = 1
    }
  }
}
