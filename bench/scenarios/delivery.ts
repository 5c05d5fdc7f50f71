import { freezeNext } from '../../harness/freeze-next.ts'
import { onlySiteOf } from '../../harness/only-site.ts'
import { createLog } from '../../src/ops/log.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { journalHomeOf } from '../../src/service/journal-home.ts'
import { siteOf } from '../../src/service/site.ts'
import { connectSpreadsheet } from '../../src/service/spreadsheets.ts'
import { realWorld } from '../../src/service/world.ts'
import { deliverySettings } from '../delivery.ts'
import { fillJournal, usualSignup } from '../journals.ts'
import { atMost, median, type Scenario, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'

const rowsPerDelivery = 100
const deliveriesPerRound = 20

/** Freezes, sends and settles batches, without the waits between them. */
async function openDelivery(dataDir: string, providerUrl: string) {
  const { config, secrets } = deliverySettings(dataDir, providerUrl, {
    DEFAULT_SHEET_TAB: 'Sheet1',
    // Set the quota so high that delivery never waits for it.
    SHEETS_REQUESTS_PER_MINUTE: '3000',
    SHEETS_REQUESTS_PER_DAY: '1000000',
  })
  const home = await journalHomeOf(config, secrets, realWorld)
  const journal = onlySiteOf(await home.open({ log: createLog('silent') }))
  const options = { ...siteOf(config.sites[0], config, secrets), journal }
  const spreadsheet = connectSpreadsheet(options, realWorld)
  const { signal } = new AbortController()
  const deliverOnce = async () => {
    const batch = await freezeNext(journal.delivery, spreadsheet.profile)
    if (!batch) throw new Error('Nothing waits to be delivered.')
    const outcome = await spreadsheet.write(batch, signal)
    if (outcome.kind !== 'applied') throw new Error(`The batch is ${outcome.kind}.`)
    await journal.delivery.settle(batch.number, systemClock.now())
  }
  return { journal, deliverOnce, [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose]() }
}

type Delivery = Awaited<ReturnType<typeof openDelivery>>

/** The median elapsed time and CPU time of one delivery, in milliseconds. */
async function costOf({ journal, deliverOnce }: Delivery) {
  const times: number[] = []
  const cpu: number[] = []
  for (let count = 0; count < deliveriesPerRound; count++) {
    await journal.intake.append(Array.from({ length: rowsPerDelivery }, (_, at) => usualSignup(at)))
    const before = process.cpuUsage()
    const begin = performance.now()
    await deliverOnce()
    times.push(performance.now() - begin)
    const { user, system } = process.cpuUsage(before)
    cpu.push((user + system) / 1000)
  }
  return { ms: median(times), cpuMs: median(cpu) }
}

/** The cost of a delivery with many signups in the journal, divided by the cost with few. */
function cost(kind: 'ms' | 'cpuMs', name: string, what: string): Scenario {
  return {
    name,
    what,
    unit: '×',
    reach: atMost(1.1),
    aim: atMost(1),
    async run(sizes: Sizes) {
      await using world = await World.create()
      const { url } = await world.provider()
      const open = async (count: number) =>
        openDelivery(await fillJournal(world.path(`data-${count}`), count, 'written'), url)
      await using small = await open(sizes.small)
      await using large = await open(sizes.large)
      await costOf(small)
      await costOf(large)
      const values: number[] = []
      const costs: number[] = []
      for (let round = 0; round < sizes.rounds; round++) {
        const few = (await costOf(small))[kind]
        const many = (await costOf(large))[kind]
        values.push(many / few)
        costs.push(many)
      }
      const note = `${median(costs).toFixed(2)} ms for ${rowsPerDelivery} rows`
      return { values, note }
    },
  }
}

export const deliveryScenarios: readonly Scenario[] = [
  cost('cpuMs', 'delivery-cpu', 'CPU of one delivery with 1,000,000 signups against 1,000'),
  cost('ms', 'delivery-time', 'time of one delivery with 1,000,000 signups against 1,000'),
]
