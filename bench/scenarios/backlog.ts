import { type Delivered, deliver } from '../deliver-backlog.ts'
import { fillJournal } from '../journals.ts'
import { atMost, type Scenario, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'

type Size = 'backlog' | 'large'

const words = { backlog: '100,000', large: '1,000,000' } as const
const measurements = new Map<string, Promise<Delivered>>()

async function measure(count: number): Promise<Delivered> {
  await using world = await World.create()
  return await deliver(world, { DATA_DIR: await fillJournal(world.path('data'), count, 'waiting') })
}

/** A figure of the delivery of a backlog, which is measured once for all of its figures. */
function delivery(
  name: string,
  unit: 'calls' | 's',
  size: Size,
  [reach, aim]: readonly [reach: number, aim: number],
): Scenario {
  const what = unit === 's' ? 'time' : 'provider calls'
  return {
    ...{ name, unit, reach: atMost(reach), aim: atMost(aim) },
    what: `${what} for a backlog of ${words[size]} rows`,
    async run(sizes: Sizes) {
      const key = String(sizes[size])
      const measured = measurements.get(key) ?? measure(sizes[size])
      measurements.set(key, measured)
      const { rows, calls, milliseconds } = await measured
      return {
        values: [unit === 's' ? milliseconds / 1000 : calls],
        note: `${rows} rows in ${calls} calls of 350 ms at the default quota; waits are skipped and counted`,
      }
    },
  }
}

export const backlogScenarios: readonly Scenario[] = [
  delivery('calls-small', 'calls', 'backlog', [25, 20]),
  delivery('calls-large', 'calls', 'large', [250, 200]),
  delivery('drain-small', 's', 'backlog', [30, 20]),
  delivery('drain-large', 's', 'large', [360, 300]),
  {
    name: 'cpu-per-row',
    what: 'CPU per delivered row',
    unit: 'µs',
    reach: atMost(20),
    aim: atMost(8),
    async run(sizes) {
      const values: number[] = []
      for (let round = 0; round < sizes.rounds; round++) {
        const { cpuMicroseconds, rows } = await measure(sizes.backlog)
        values.push(cpuMicroseconds / rows)
      }
      return {
        values,
        note: `backlog of ${sizes.backlog}: freeze, send and settle, garbage included`,
      }
    },
  },
]
