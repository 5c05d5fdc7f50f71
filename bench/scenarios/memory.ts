import { fillJournal } from '../journals.ts'
import { signingUp } from '../load.ts'
import { peakBytes } from '../processes.ts'
import { atMost, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

/** The peak memory of the service while it delivers a backlog and takes signups. */
export const memoryScenario: Scenario = {
  name: 'memory',
  what: 'memory (peak RSS) with a backlog of 1,000,000',
  unit: 'MB',
  reach: atMost(175),
  aim: atMost(120),
  async run(sizes) {
    await using world = await World.create()
    const dataDir = await fillJournal(world.path('data'), sizes.large, 'waiting')
    const service = await world.service(await world.provider(), { dataDir })
    const started = peakBytes(service.pid) / 1e6
    const seconds = sizes.rounds * sizes.sliceSeconds
    await signingUp(world)(service.url, seconds)
    const note = `${started.toFixed(0)} MB when it listens, then ${seconds} s of load and delivery`
    return { values: [peakBytes(service.pid) / 1e6], note }
  },
}
