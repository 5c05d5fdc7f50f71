import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fillJournal } from '../journals.ts'
import { programPath } from '../processes.ts'
import { atMost, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

interface Delivered {
  readonly rows: number
  readonly calls: number
  readonly cpuMicroseconds: number
  /** The time with calls of 350 ms and with all waits. */
  readonly milliseconds: number
}

/** Delivers the backlog of a data folder, in a process of its own. */
async function deliver(world: World, dataDir: string): Promise<Delivered> {
  const provider = await world.provider()
  const env = { ...process.env, DATA_DIR: dataDir, PROVIDER_URL: provider.url }
  const { stdout } = await promisify(execFile)(process.execPath, [programPath('deliver')], { env })
  const cost = JSON.parse(stdout) as Omit<Delivered, 'calls'>
  const answer = await fetch(`${provider.url}/rows`)
  const { rows, calls } = (await answer.json()) as { rows: number; calls: number }
  if (rows !== cost.rows) throw new Error(`${rows} rows arrived instead of ${cost.rows}.`)
  return { ...cost, calls }
}

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
      const delivered = await deliver(world, dataDir)
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
        const { cpuMicroseconds, rows } = await deliver(world, dataDir)
        values.push(cpuMicroseconds / rows)
      }
      return {
        values,
        note: `backlog of ${sizes.backlog}: freeze, send and settle, garbage included`,
      }
    },
  },
]
