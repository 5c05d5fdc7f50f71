import { type Delivered, deliver } from '../deliver-backlog.ts'
import { fillJournal } from '../journals.ts'
import { atMost, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

type Size = 'backlog' | 'large'

/** A scenario of one delivery, of which `valueOf` takes the value. */
function delivery(
  scenario: Pick<Scenario, 'name' | 'what' | 'unit' | 'reach' | 'aim'>,
  size: Size,
  valueOf: (delivered: Delivered) => number,
): Scenario {
  return {
    ...scenario,
    async run(sizes) {
      await using world = await World.create()
      const dataDir = await fillJournal(world.path('data'), sizes[size], 'waiting')
      const delivered = await deliver(world, { DATA_DIR: dataDir })
      const { rows, calls } = delivered
      return {
        values: [valueOf(delivered)],
        note: `${rows} rows in ${calls} calls of 350 ms at the default quota; waits are skipped and counted`,
      }
    },
  }
}

function calls(name: string, what: string, size: Size, reach: number, aim: number): Scenario {
  const limits = { reach: atMost(reach), aim: atMost(aim) }
  return delivery({ name, what, unit: 'calls', ...limits }, size, (delivered) => delivered.calls)
}

function drain(name: string, what: string, size: Size, reach: number, aim: number): Scenario {
  const limits = { reach: atMost(reach), aim: atMost(aim) }
  return delivery(
    { name, what, unit: 's', ...limits },
    size,
    (delivered) => delivered.milliseconds / 1000,
  )
}

export const backlogScenarios: readonly Scenario[] = [
  calls('calls-small', 'provider calls for a backlog of 100,000 rows', 'backlog', 25, 20),
  calls('calls-large', 'provider calls for a backlog of 1,000,000 rows', 'large', 250, 200),
  drain('drain-small', 'time for a backlog of 100,000 rows', 'backlog', 30, 20),
  drain('drain-large', 'time for a backlog of 1,000,000 rows', 'large', 360, 300),
  {
    name: 'cpu-per-row',
    what: 'CPU per delivered row',
    unit: 'µs',
    reach: atMost(20),
    aim: atMost(8),
    async run(sizes) {
      const values: number[] = []
      for (let round = 0; round < sizes.rounds; round++) {
        await using world = await World.create()
        const dataDir = await fillJournal(world.path('data'), sizes.backlog, 'waiting')
        const { cpuMicroseconds, rows } = await deliver(world, { DATA_DIR: dataDir })
        values.push(cpuMicroseconds / rows)
      }
      return {
        values,
        note: `backlog of ${sizes.backlog}: freeze, send and settle, garbage included`,
      }
    },
  },
]
