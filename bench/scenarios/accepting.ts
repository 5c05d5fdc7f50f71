import { alternate, inWords, ratios } from '../alternate.ts'
import { requestsPerSecond, usualBody } from '../load.ts'
import { atLeast, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

/** The rate of durable signups divided by the rate of a baseline. */
function accepting(
  options: Pick<Scenario, 'name' | 'what' | 'unit' | 'reach' | 'aim'>,
  against: 'none' | 'each',
  connections: number,
): Scenario {
  return {
    ...options,
    async run(sizes) {
      await using world = await World.create()
      const baseline = await world.baseline(against)
      const service = await world.service(await world.provider())
      const slice = (url: string, seconds: number) =>
        requestsPerSecond({
          ...{ url: `${url}/api/signup`, connections, seconds },
          ...{ body: usualBody, folder: world.folder },
        })
      const rates = await alternate({ service: baseline, slice }, { service, slice }, sizes)
      return { values: ratios(rates), note: inWords(rates) }
    },
  }
}

const bare = { unit: '×', aim: atLeast(0.7) }
const transactions = { unit: '×', reach: atLeast(6), aim: atLeast(10) }

export const acceptingScenarios: readonly Scenario[] = [64, 256].flatMap((connections) => [
  accepting(
    {
      name: `bare-${connections}`,
      what: `durable POST /api/signup, ${connections} connections, against bare node:http`,
      ...bare,
      reach: atLeast(connections === 64 ? 0.6 : 0.62),
    },
    'none',
    connections,
  ),
  accepting(
    {
      name: `transactions-${connections}`,
      what: `the same, ${connections} connections, against one transaction per request`,
      ...transactions,
    },
    'each',
    connections,
  ),
])
