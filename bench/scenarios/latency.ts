import type { RunningService } from '../../harness/start-service.ts'
import { alternate, ratios } from '../alternate.ts'
import { postAtConstantRate } from '../constant-rate.ts'
import { type Load, postAtFullRate, requestsPerSecond, usualBody } from '../load.ts'
import { percentile } from '../percentile.ts'
import { fillDatabase } from '../postgres-journals.ts'
import { atMost, median, type Scenario, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'

/** Where signups and rows go. */
const places = ['google', 'workbook', 'postgres'] as const
type Place = (typeof places)[number]

const placeWords: Readonly<Record<Place, string>> = {
  google: 'rows to Google',
  workbook: 'rows to the local workbook',
  postgres: 'journal in PostgreSQL, rows to Google',
}

/** A service that delivers to this place. */
async function serviceFor(world: World, place: Place): Promise<RunningService> {
  if (place === 'workbook') return world.service(undefined)
  const provider = await world.provider()
  if (place === 'google') return world.service(provider)
  const databaseUrl = await fillDatabase(await world.database(), 1, 'written')
  return world.service(provider, { env: { DATABASE_URL: databaseUrl } })
}

const highestConnections = 256
const connections = 64

function loadOf({ url }: RunningService, { folder }: World): Omit<Load, 'seconds' | 'connections'> {
  return { url: `${url}/api/signup`, body: usualBody, folder }
}

async function halfOfHighest(service: RunningService, world: World, sizes: Sizes) {
  const seconds = sizes.warmUpSeconds + sizes.sliceSeconds
  return (await requestsPerSecond({ ...loadOf(service, world), connections, seconds })) / 2
}

/** Measures one slice after the other. */
async function rounds<T>(sizes: Sizes, measure: (seconds: number) => Promise<T>): Promise<T[]> {
  const measured: T[] = []
  while (measured.length < sizes.rounds) measured.push(await measure(sizes.sliceSeconds))
  return measured
}

function atFullRate(place: Place): Scenario {
  return {
    name: `tail-${place}`,
    what: `p99 at the highest rate, ${highestConnections} connections, ${placeWords[place]}`,
    unit: 'ms',
    reach: atMost(100),
    aim: atMost(50),
    async run(sizes) {
      await using world = await World.create()
      const service = await serviceFor(world, place)
      const load = { ...loadOf(service, world), connections: highestConnections }
      await postAtFullRate({ ...load, seconds: sizes.warmUpSeconds || sizes.sliceSeconds })
      const answered = await rounds(sizes, (seconds) => postAtFullRate({ ...load, seconds }))
      const perSecond = median(answered.map((one) => one.perSecond))
      const values = answered.map(({ p99Ms }) => p99Ms)
      return { values, note: `${Math.round(perSecond)} signups/s` }
    },
  }
}

function atHalfRate(place: Place): Scenario {
  return {
    name: `p99-${place}`,
    what: `p99 at half of the highest rate, ${placeWords[place]}`,
    unit: 'ms',
    reach: atMost(10),
    aim: atMost(5),
    async run(sizes) {
      await using world = await World.create()
      const service = await serviceFor(world, place)
      const perSecond = await halfOfHighest(service, world, sizes)
      const load = { ...loadOf(service, world), connections, perSecond }
      const times = await rounds(sizes, (seconds) => postAtConstantRate({ ...load, seconds }))
      const values = times.map((some) => percentile(some, 0.99))
      const note = `${Math.round(perSecond)} signups/s; times count from when each request was due`
      return { values, note }
    },
  }
}

const whenDown: Scenario = {
  name: 'p99-down',
  what: 'p99 at half of the highest rate, provider down by up',
  unit: '×',
  reach: atMost(1.1),
  aim: atMost(1.1),
  async run(sizes) {
    await using world = await World.create()
    const up = await serviceFor(world, 'google')
    const down = await world.service(await world.provider({ isDown: true }))
    const perSecond = await halfOfHighest(up, world, sizes)
    const slice = async (url: string, seconds: number) => {
      const load = { url: `${url}/api/signup`, perSecond, connections, body: usualBody }
      return percentile(await postAtConstantRate({ ...load, seconds }), 0.99)
    }
    const times = await alternate({ service: up, slice }, { service: down, slice }, sizes)
    const note = `${median(times.b).toFixed(2)} ms against ${median(times.a).toFixed(2)} ms`
    return { values: ratios(times), note }
  },
}

export const latencyScenarios: readonly Scenario[] = [
  ...places.map(atFullRate),
  ...places.map(atHalfRate),
  whenDown,
]
