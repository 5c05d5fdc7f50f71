import { presentBytes, startMeasured } from '../processes.ts'
import { atMost, median, type Scenario } from '../scenario.ts'
import { googleSettings, World } from '../world.ts'

const many = 100

/** What 100 sites cost: each with a spreadsheet, on one account. */
function ofSites(
  options: Pick<Scenario, 'name' | 'what' | 'unit' | 'reach' | 'aim'>,
  journal: 'SQLite' | 'PostgreSQL',
  value: (one: Started, hundred: Started) => number,
): Scenario {
  return {
    ...options,
    isDifference: true,
    async run(sizes) {
      await using world = await World.create()
      const provider = await world.provider()
      const server = journal === 'PostgreSQL' ? await world.database() : undefined
      const start = async (count: number): Promise<Started> => {
        await using database = await server?.createDatabase()
        const env: Record<string, string> = {
          LOG_LEVEL: 'error',
          ...googleSettings(provider.url),
          ROLLCALL_CONFIG: configOf(count),
          ...(database && { DATABASE_URL: database.url }),
        }
        // The sites name their spreadsheets.
        delete env['SHEETS_SHEET_ID']
        const begin = performance.now()
        await using service = await startMeasured({ env })
        const seconds = (performance.now() - begin) / 1000
        return { seconds, bytes: await settledBytes(service.pid) }
      }
      // The first start after a pause reads the program from disk, which takes longer than 100 sites.
      await start(1)
      const of = { one: [] as Started[], hundred: [] as Started[] }
      for (let round = 0; round < sizes.rounds; round++) {
        of.one.push(await start(1))
        of.hundred.push(await start(many))
      }
      const values = of.hundred.map((hundred, at) => value(of.one[at] ?? hundred, hundred))
      const words = (started: readonly Started[]) =>
        `${median(started.map(({ seconds }) => seconds)).toFixed(2)} s and ` +
        `${(median(started.map(({ bytes }) => bytes)) / 1e6).toFixed(0)} MB`
      return { values, note: `${words(of.hundred)}; with one site ${words(of.one)}` }
    },
  }
}

interface Started {
  readonly seconds: number
  readonly bytes: number
}

function configOf(count: number): string {
  const sites = Array.from({ length: count }, (_, at) => [
    `site-${at}`,
    { spreadsheet: `bench-spreadsheet-${1000 + at}-abcdefghijklmnop` },
  ])
  return JSON.stringify({ sites: Object.fromEntries(sites) as unknown })
}

/** The memory of a process when it has been idle for a while. */
async function settledBytes(pid: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 3000))
  return presentBytes(pid)
}

export const sitesScenarios: readonly Scenario[] = (['SQLite', 'PostgreSQL'] as const).flatMap(
  (journal) => [
    ofSites(
      {
        name: `sites-start-${journal.toLowerCase()}`,
        what: `start with 100 sites on ${journal}, minus the start with one`,
        unit: 's',
        reach: atMost(1),
        aim: atMost(0.4),
      },
      journal,
      (one, hundred) => hundred.seconds - one.seconds,
    ),
    ofSites(
      {
        name: `sites-memory-${journal.toLowerCase()}`,
        what: `memory (RSS) of each of 100 sites on ${journal}`,
        unit: 'MB',
        reach: atMost(1),
        aim: atMost(0.5),
      },
      journal,
      (one, hundred) => (hundred.bytes - one.bytes) / (many - 1) / 1e6,
    ),
  ],
)
