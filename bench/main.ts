/**
 * `npm run bench`: measures Rollcall against baselines. Both take turns in one run, and the result is
 * a ratio. A scenario that fails has a row that says so, the others run, and the exit code is 1.
 *
 *   -- --only bare,bulk   only scenarios whose names begin with one of these
 *   -- --quick            tiny sizes: shows that all runs, and says nothing about speed
 *   -- --record           puts the figures into bench/RESULTS.md
 *   -- --against [COMMIT] measures the last commit of this tree beside another instead, by default beside
 *                         the last release, and fails when it needs more than 1.02 of what that needs
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareWith } from './against/compare.ts'
import { lastRelease } from './against/tree.ts'
import { describeMachine, loadCeiling } from './machine.ts'
import { pinOurselves } from './processes.ts'
import { failedRow, tableHead, tableRow } from './report.ts'
import { withRun } from './results.ts'
import { fullSizes, isReached, quickSizes } from './scenario.ts'
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
if (positionals.length > 0 && !options.against) {
  const meant = positionals.join(',')
  throw new Error(`Say --only ${meant} to measure scenarios, or --against ${meant} for a commit.`)
}
const names = options.only.split(',')
const chosen = scenarios.filter(({ name }) => names.some((start) => name.startsWith(start)))
if (chosen.length === 0) {
  const known = scenarios.map(({ name }) => name).join(', ')
  throw new Error(`No scenario begins with "${options.only}". There are: ${known}.`)
}
const sizes = options.quick ? quickSizes : fullSizes

const rows: string[] = []
const say = (line: string) => process.stdout.write(`${line}\n`)
const sayRow = (row: string) => {
  rows.push(row)
  say(row)
}

pinOurselves()
const about = await describeMachine()
for (const line of about) say(`- ${line}`)
if (!options.against) say(`- ${await loadCeiling(sizes.sliceSeconds)}`)
for (const line of ['', ...tableHead]) say(line)
await (options.against ? compare(positionals[0]) : measureScenarios())
if (options.record) {
  const file = join(import.meta.dirname, 'RESULTS.md')
  const page = await readFile(file, 'utf8')
  const [name = '', ...others] = about
  await writeFile(file, withRun(page, { name, about: others, rows }))
}

async function measureScenarios(): Promise<void> {
  for (const scenario of chosen) {
    try {
      sayRow(tableRow(scenario, await scenario.run(sizes)))
    } catch (error) {
      // Go on: the other scenarios can still be measured.
      process.stderr.write(
        `${scenario.name}: ${error instanceof Error ? error.stack : String(error)}\n`,
      )
      sayRow(failedRow(scenario))
      process.exitCode = 1
    }
  }
}

async function compare(commit?: string): Promise<void> {
  for (const { figure, measured } of await compareWith(commit ?? (await lastRelease()), sizes)) {
    sayRow(tableRow(figure, measured))
    if (!isReached(figure, measured)) process.exitCode = 1
  }
}
