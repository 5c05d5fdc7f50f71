import { alternate, inWords, ratios } from '../alternate.ts'
import { requestsPerSecond, signingUp, usualBody } from '../load.ts'
import { atLeast, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

/** The rate of signups in bulk requests, divided by the rate of single ones. */
export const bulkScenario: Scenario = {
  name: 'bulk',
  what: 'bulk of 1,000, signups per second against single',
  unit: '×',
  reach: atLeast(5.5),
  aim: atLeast(8),
  async run(sizes) {
    await using world = await World.create()
    const provider = await world.provider()
    const single = await world.service(provider)
    const bulk = await world.service(provider)
    const items = Array.from({ length: sizes.bulkItems }, () => usualBody).join(',')
    const { folder } = world
    const rates = await alternate(
      {
        service: single,
        slice: signingUp(world),
      },
      {
        service: bulk,
        slice: async (url, seconds) => {
          const body = `{"signups":[${items}]}`
          const path = '/api/signup/bulk'
          const requests = await requestsPerSecond({
            url: url + path,
            connections: 4,
            seconds,
            body,
            folder,
          })
          return requests * sizes.bulkItems
        },
      },
      sizes,
    )
    return { values: ratios(rates), note: inWords(rates) }
  },
}
