/**
 * `npm run attack`: tries what one client can do to all others, each time against a fresh process of the
 * service on this machine. Ends with exit code 1 when an attack does harm.
 *
 *   -- --size small   a few seconds for each, as in `npm test`; `full` is the default
 *   -- --only resets  attacks whose names begin with one of these, separated by commas
 */
import { parseArgs } from 'node:util'
import { isPeakKnown } from '../bench/processes.ts'
import { attacks } from './attacks.ts'
import { carryOut, type Report } from './carry-out.ts'

const { values: options } = parseArgs({
  options: {
    size: { type: 'string', default: 'full' },
    only: { type: 'string', default: '' },
  },
})
const { size } = options
if (size !== 'small' && size !== 'full') throw new Error(`--size is small or full, not ${size}.`)
const names = options.only.split(',')
const chosen = attacks.filter(({ name }) => names.some((start) => name.startsWith(start)))
if (chosen.length === 0) {
  const known = attacks.map(({ name }) => name).join(', ')
  throw new Error(`No attack begins with "${options.only}". There are: ${known}.`)
}

for (const attack of chosen) {
  try {
    say(`held    ${attack.name}: ${described(await carryOut(attack, size))}`)
  } catch (error) {
    say(`BROKEN  ${attack.name}: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}

function described({ counts, slowestMs, afterMs, peakBytes }: Report): string {
  const memory = `${Math.round(peakBytes / 1024 / 1024)} MiB ${isPeakKnown ? 'at most' : 'in the end, not bounded without /proc'}`
  const counted = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  return (
    `${counted.join(', ')}; others waited ${Math.ceil(slowestMs)} ms at most, ` +
    `${Math.ceil(afterMs)} ms afterwards; ${memory}`
  )
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
