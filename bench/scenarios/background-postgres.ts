import pg from 'pg'
import { startPostgresProxy } from '../../harness/postgres-proxy.ts'
import { openPostgresSites } from '../../src/journal/postgres/postgres-journal.ts'
import { fillDatabase, query } from '../postgres-journals.ts'
import { atMost, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'
import { kinds, type Opened, policies, slicesMax, statementsFor } from './background.ts'

const roundTripMs = 4

/** The longest time for which somebody beside the work waited for the locks of the head and of the site. */
async function longestWait(url: string, work: () => Promise<unknown>): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  let [ms, isRunning] = [0, true]
  const asking = async () => {
    while (isRunning) {
      const began = performance.now()
      // A commit would wait for the disk.
      await client.query(
        'BEGIN; SELECT 1 FROM rollcall.head FOR UPDATE; SELECT 1 FROM rollcall.site FOR UPDATE; ROLLBACK',
      )
      ms = Math.max(ms, performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  const asked = asking()
  try {
    await work()
  } finally {
    isRunning = false
    await asked
    await client.end()
  }
  return ms
}

async function inSlices(slice: () => Promise<unknown>): Promise<void> {
  for (let slices = 0, more: unknown = true; more && slices < slicesMax; slices++) {
    more = await slice()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export const backgroundPostgresScenario: Scenario = {
  name: 'background-postgres',
  what: `longest hold of PostgreSQL's locks by work behind the scenes, with 1,000,000 signups and a round trip of ${roundTripMs} ms`,
  unit: 'ms',
  // Five round trips, and 10 ms.
  reach: atMost(5 * roundTripMs + 10),
  aim: atMost(5 * roundTripMs),
  async run(sizes) {
    await using world = await World.create()
    const server = await world.database()
    const direct = await fillDatabase(server, sizes.large, 'written')
    await using proxy = await startPostgresProxy(server.port)
    const url = new URL(direct)
    url.port = String(proxy.port)
    await using all = await openPostgresSites(url.href, policies)
    const [journal] = all.sites.values()
    if (!journal) throw new Error('The journal has no site.')
    const filling = statementsFor(sizes.backlog, 'uuidv7()')
    await query(direct, `SET search_path = rollcall; ${filling.join(';')}; ANALYZE`)
    // What was filled would hold up the first commits.
    await server.query('CHECKPOINT')
    proxy.delayMs = roundTripMs / 2
    const idle = await longestWait(direct, () => new Promise((done) => setTimeout(done, 2_000)))
    const holds: [string, number][] = []
    for (const [kind, sliceOf] of Object.entries(kinds)) {
      const slice = sliceOf({ all, journal, sizes } satisfies Opened)
      await slice()
      holds.push([kind, await longestWait(direct, () => inSlices(slice))])
    }
    const note = holds.map(([kind, ms]) => `${kind} ${ms.toFixed(1)}`).join(', ')
    return {
      values: [Math.max(...holds.map(([, ms]) => ms))],
      note: `${note}; without any ${idle.toFixed(1)}`,
    }
  },
}
