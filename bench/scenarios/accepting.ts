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

const transactions = { unit: '×', reach: atLeast(6), aim: atLeast(10) }

/** The rate of signups with an `Idempotency-Key`, as the embed sends them, divided by that of others. */
const keyedScenario: Scenario = {
  name: 'keyed',
  what: 'signups with a key against those without, 64 connections',
  unit: '×',
  reach: atLeast(0.9),
  aim: atLeast(0.95),
  async run(sizes) {
    await using world = await World.create()
    const provider = await world.provider()
    const slice = (isKeyed: boolean) => (url: string, seconds: number) =>
      requestsPerSecond({
        ...{ url: `${url}/api/signup`, connections: 64, seconds, isKeyed },
        ...{ body: usualBody, folder: world.folder },
      })
    const plain = { service: await world.service(provider), slice: slice(false) }
    const keyed = { service: await world.service(provider), slice: slice(true) }
    const rates = await alternate(plain, keyed, sizes)
    return { values: ratios(rates), note: inWords(rates) }
  },
}

const ofBaselines = [
  { connections: 64, reach: 0.4, aim: 0.45 },
  { connections: 256, reach: 0.55, aim: 0.6 },
].flatMap(({ connections, reach, aim }) => [
  accepting(
    {
      name: `bare-${connections}`,
      what: `durable POST /api/signup, ${connections} connections, against bare node:http`,
      unit: '×',
      reach: atLeast(reach),
      aim: atLeast(aim),
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

export const acceptingScenarios: readonly Scenario[] = [...ofBaselines, keyedScenario]
