import type { Beside } from '../beside-command.ts'
import { percentile } from '../percentile.ts'
import { atMost, type Scenario, type Sizes } from '../scenario.ts'

/** How many signups come while a command runs. */
export const perSecond = 1_000

type Figure = 'seconds' | 'megabytes' | 'p99' | ((beside: Beside) => number)

type Line = Pick<Scenario, 'name' | 'what' | 'unit' | 'reach' | 'aim'> & {
  readonly figure: Figure
}

export function besideLine(
  name: string,
  what: string,
  unit: string,
  reach: number,
  aim: number,
  figure: Figure,
): Line {
  return { name, what, unit, reach: atMost(reach), aim: atMost(aim), figure }
}

/** The lines of the table about one command that runs under load. It is measured once for all of them. */
export function besideScenarios(
  measure: (sizes: Sizes) => Promise<Beside>,
  lines: readonly Line[],
): readonly Scenario[] {
  const measurements = new Map<Sizes, Promise<Beside>>()
  return lines.map(({ figure, ...scenario }) => ({
    ...scenario,
    async run(sizes) {
      const measured = measurements.get(sizes) ?? measure(sizes)
      measurements.set(sizes, measured)
      const beside = await measured
      const value = typeof figure === 'function' ? figure(beside) : beside[figure]
      return { values: [value], note: inWords(beside) }
    },
  }))
}

function inWords({ signups, seconds, holds, waitMs }: Beside): string {
  const parts = [
    `${signups} signups at ${perSecond}/s meanwhile`,
    `it took ${seconds.toFixed(1)} s`,
    ...spread('work in a transaction', holds.workMs),
    ...spread('its processor time', holds.cpuMs),
    ...spread('commit', holds.commitMs),
    ...spread('emptying the log', holds.emptyMs),
    `another process waited at most ${waitMs.toFixed(1)} ms to write`,
  ]
  return parts.join('; ')
}

function spread(what: string, times: readonly number[]): string[] {
  if (times.length === 0) return []
  const shown = [0.5, 0.99, 1].map((share) => percentile(times, share).toFixed(2))
  return [`${what} ${shown.join('/')} ms (p50/p99/longest of ${times.length})`]
}
