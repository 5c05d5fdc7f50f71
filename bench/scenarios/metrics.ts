import { metricsText, withMetrics } from '../../harness/read-metrics.ts'
import { alternate, inWords, ratios } from '../alternate.ts'
import { signingUp } from '../load.ts'
import { atMost, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

const pairs = 9

/** The processor time of a signup with metrics, which are read once in each slice, by that without. */
export const metricsScenario: Scenario = {
  name: 'metrics',
  what: 'CPU time of a signup with METRICS_TOKEN, by that without',
  unit: '×',
  reach: atMost(1.05),
  aim: atMost(1.03),
  async run(sizes) {
    await using world = await World.create()
    const provider = await world.provider()
    const without = await world.service(provider)
    const counted = await world.service(provider, { env: withMetrics })
    const slice = signingUp(world)
    const sliceWithMetrics = async (url: string, seconds: number) => {
      const [rate] = await Promise.all([slice(url, seconds), metricsText(url)])
      return rate
    }
    const rates = await alternate(
      { service: without, slice },
      { service: counted, slice: sliceWithMetrics },
      { ...sizes, rounds: sizes.rounds === 1 ? 1 : pairs },
    )
    return { values: ratios(rates.cpu), note: inWords(rates) }
  },
}
