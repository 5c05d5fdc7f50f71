import type { Beside } from '../beside-command.ts'
import { atMost, type Scenario, type Sizes } from '../scenario.ts'

/** How many signups come while a command runs. */
export const perSecond = 1_000

type Line = Pick<Scenario, 'name' | 'what' | 'unit' | 'reach' | 'aim'> & {
  readonly figure: 'seconds' | 'megabytes' | 'p99' | 'lockedMs'
}

export function besideLine(
  name: string,
  what: string,
  unit: string,
  reach: number,
  aim: number,
  figure: Line['figure'],
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
      const { signups, seconds } = beside
      const note = `${signups} signups at ${perSecond}/s meanwhile; it took ${seconds.toFixed(1)} s`
      return { values: [beside[figure]], note }
    },
  }))
}
