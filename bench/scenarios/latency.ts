import { alternate, ratios } from '../alternate.ts'
import { percentile, postAtConstantRate } from '../constant-rate.ts'
import { requestsPerSecond, usualBody } from '../load.ts'
import { atMost, median, type Scenario, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'

const connections = 64

/** Measures once for both lines of the table. */
function measured(sizes: Sizes): ReturnType<typeof measure> {
  const known = measurements.get(sizes) ?? measure(sizes)
  measurements.set(sizes, known)
  return known
}

const measurements = new Map<Sizes, ReturnType<typeof measure>>()

/** The 99th percentile at half of the highest rate, with the provider up and down. */
async function measure(sizes: Sizes) {
  await using world = await World.create()
  const up = await world.service(await world.provider())
  const down = await world.service(await world.provider({ isDown: true }))
  const highest = await requestsPerSecond({
    ...{ url: `${up.url}/api/signup`, connections, body: usualBody, folder: world.folder },
    seconds: sizes.warmUpSeconds + sizes.sliceSeconds,
  })
  const perSecond = highest / 2
  const slice = async (url: string, seconds: number) => {
    const load = { url: `${url}/api/signup`, perSecond, connections, body: usualBody }
    return percentile(await postAtConstantRate({ ...load, seconds }), 0.99)
  }
  const times = await alternate({ service: down, slice }, { service: up, slice }, sizes)
  return { up: times.b, ratios: ratios(times), down: times.a, perSecond }
}

export const latencyScenarios: readonly Scenario[] = [
  {
    name: 'p99-up',
    what: 'p99 at half of the highest rate, provider up',
    unit: 'ms',
    reach: atMost(20),
    aim: atMost(5),
    async run(sizes) {
      const { up, perSecond } = await measured(sizes)
      return {
        values: up,
        note: `${Math.round(perSecond)} signups/s; times count from when each request was due`,
      }
    },
  },
  {
    name: 'p99-down',
    what: 'p99 at half of the highest rate, provider down by up',
    unit: '×',
    reach: atMost(1.1),
    aim: atMost(1.1),
    async run(sizes) {
      const { ratios, up, down } = await measured(sizes)
      const values = ratios.map((ratio) => 1 / ratio)
      const note = `${median(down).toFixed(2)} ms against ${median(up).toFixed(2)} ms`
      return { values, note }
    },
  },
]
