/**
 * `npm run simulate -- --seed N --runs M`: simulates delivery under all faults. A single run, the default
 * with a seed, prints all its events. Many runs print each failure and the command that repeats it.
 */
import { parseArgs } from 'node:util'

import { replayCommand, runSchedules } from '../test/simulation/runner.ts'
import { runSchedule } from '../test/simulation/world.ts'

const { values } = parseArgs({
  options: { seed: { type: 'string' }, runs: { type: 'string' } },
})
const seed = number('seed', values.seed, Date.now() % 1_000_000_000)
const runs = number('runs', values.runs, values.seed === undefined ? 20_000 : 1)

if (runs === 1) await tell(seed)
else await runMany(seed, runs)

async function tell(seed: number): Promise<void> {
  const trace: string[] = []
  const { violation } = await runSchedule(seed, { trace })
  console.log(trace.join('\n'))
  console.log(violation ? `\nFAILED  ${violation}` : '\nok      every invariant held')
  if (violation) process.exitCode = 1
}

async function runMany(seed: number, runs: number): Promise<void> {
  console.log(`${runs} schedules from seed ${seed}`)
  const started = performance.now()
  const summary = await runSchedules(seed, runs)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.table(Object.fromEntries([...summary.counts].toSorted(([, a], [, b]) => b - a)))
  for (const { seed, violation } of summary.failures) {
    console.log(`FAILED  ${violation}\n        ${replayCommand(seed)}`)
  }
  if (summary.failures.length > 0) process.exitCode = 1
  else console.log(`ok      every invariant held in ${summary.runs} schedules, ${seconds} s`)
}

function number(name: string, given: string | undefined, otherwise: number): number {
  const value = Number(given ?? otherwise)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`--${name} is ${given}; it must be a whole number, for example --${name} 1.`)
}
