import { alternate, inWords, ratios } from '../alternate.ts'
import { fillJournal } from '../journals.ts'
import { signingUp } from '../load.ts'
import { startMeasured } from '../processes.ts'
import { atLeast, atMost, median, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

/** The rate of signups with many in the journal, divided by the rate with few. */
export const largeJournalScenario: Scenario = {
  name: 'large-journal',
  what: 'acceptance with 1,000,000 signups in the journal against 1,000',
  unit: '×',
  reach: atLeast(0.95),
  aim: atLeast(1),
  async run(sizes) {
    await using world = await World.create()
    const provider = await world.provider()
    const start = async (count: number) => {
      const dataDir = await fillJournal(world.path(`journal-${count}`), count, 'written')
      return world.service(provider, { dataDir })
    }
    const slice = signingUp(world)
    const small = await start(sizes.small)
    const large = await start(sizes.large)
    const rates = await alternate({ service: small, slice }, { service: large, slice }, sizes)
    return { values: ratios(rates), note: inWords(rates) }
  },
}

/** The time from the start of the process until it says that it listens. */
export const startScenario: Scenario = {
  name: 'start',
  what: 'start, 1,000,000 signups in the journal',
  unit: 's',
  reach: atMost(0.45),
  aim: atMost(0.4),
  async run(sizes) {
    await using world = await World.create()
    const small = await fillJournal(world.path('small'), sizes.small, 'written')
    const large = await fillJournal(world.path('large'), sizes.large, 'written')
    const secondsToStart = async (dataDir: string) => {
      const begin = performance.now()
      const service = await startMeasured({ dataDir })
      const seconds = (performance.now() - begin) / 1000
      await service.stop()
      return seconds
    }
    const values: number[] = []
    const few: number[] = []
    for (let round = 0; round < sizes.rounds; round++) {
      few.push(await secondsToStart(small))
      values.push(await secondsToStart(large))
    }
    return { values, note: `${median(few).toFixed(2)} s with ${sizes.small}` }
  },
}
