import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import type { RunningService } from '../../harness/start-service.ts'
import { endpointKeyOf } from '../../src/outbox/webhook/endpoint.ts'
import { postAtConstantRate } from '../constant-rate.ts'
import { fillJournal } from '../journals.ts'
import { loadGenerator, requestsPerSecond, usualBody } from '../load.ts'
import { percentile } from '../percentile.ts'
import { cpuMicroseconds, leaveAlone, wakeAll } from '../processes.ts'
import { atLeast, atMost, median, type Measured, type Scenario, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'

const connections = 64
const receiverMs = 10
const secret = `whsec_${randomBytes(32).toString('base64')}`

/** A service and who hears of its signups. */
interface Subject {
  readonly service: RunningService
  readonly provider: RunningService
  /** The receiver that works; undefined without webhooks. */
  readonly receiver?: RunningService
}

/** What a service did in one slice. Rates are by the second. */
interface Slice {
  readonly messages: number
  /** Of these signups, until all of them have arrived. */
  readonly rows: number
  /** Microseconds of CPU time in a second. */
  readonly cpu: number
  /** Of signups, in milliseconds. NaN without any. */
  readonly p99: number
}

/** Each slice of one kind, in the order of the rounds. */
interface Series {
  /** Half of the full rate of signups. */
  readonly perSecond: number
  /** How many requests a second the receiver takes from the load generator, on as many connections. */
  readonly bare: number[]
  /** With these signups and without webhooks. */
  readonly without: Slice[]
  /** With these signups. */
  readonly busy: Slice[]
  /** Without signups. */
  readonly alone: Slice[]
  /** The same, while another endpoint hangs. */
  readonly beside: Slice[]
}

async function measure(sizes: Sizes): Promise<Series> {
  await using world = await World.create()
  const without = await subject(world, sizes, 'without', [])
  const receiver = await world.receiver({ delayMs: receiverMs })
  const works = { ...(await subject(world, sizes, 'works', [receiver])), receiver }
  const second = await world.receiver({ delayMs: receiverMs })
  const hanging = await world.receiver({ hangs: true })
  const half = { ...(await subject(world, sizes, 'half', [hanging, second])), receiver: second }

  const all = [without, works, half].map(({ service }) => service)
  const during = (one: Subject, work: () => Promise<readonly number[]>) => {
    leaveAlone([one.service], all)
    return sliceOf(one, work)
  }
  const posting =
    ({ service }: Subject, perSecond: number, seconds: number) =>
    () => {
      const load = { url: `${service.url}/api/signup`, body: usualBody, connections }
      return postAtConstantRate({ ...load, perSecond, seconds })
    }
  const idle = (seconds: number) => () => pause(1000 * seconds, [])
  const { rounds, sliceSeconds: seconds, warmUpSeconds } = sizes
  try {
    leaveAlone([without.service], all)
    const { folder } = world
    const url = `${without.service.url}/api/signup`
    const load = { url, connections, body: usualBody, folder }
    const perSecond = (await requestsPerSecond({ ...load, seconds: warmUpSeconds + seconds })) / 2
    // Its rows are not those of the slices.
    await untilNothingWaits(without)
    if (warmUpSeconds > 0) {
      for (const one of [works, half]) await during(one, posting(one, perSecond, warmUpSeconds))
    }
    const series: Series = { perSecond, bare: [], without: [], busy: [], alone: [], beside: [] }
    for (let round = 0; round < rounds; round++) {
      leaveAlone([], all)
      const atOnce = { ...load, url: receiver.url, connections: 10, seconds }
      series.bare.push(await requestsPerSecond(atOnce))
      series.without.push(await during(without, posting(without, perSecond, seconds)))
      series.busy.push(await during(works, posting(works, perSecond, seconds)))
      series.alone.push(await during(works, idle(seconds)))
      series.beside.push(await during(half, idle(seconds)))
    }
    return series
  } finally {
    wakeAll(all)
  }
}

/** A service whose journal has many signups. Its endpoints have none of their messages yet. */
async function subject(
  world: World,
  sizes: Sizes,
  name: string,
  receivers: readonly RunningService[],
): Promise<Subject> {
  const dataDir = await fillJournal(world.path(name), sizes.large, 'written')
  const urls = receivers.map(({ url }) => `${url}/hooks`)
  {
    await using journal = openSqliteJournal(join(dataDir, 'journal.db'))
    const keys = urls.map(endpointKeyOf)
    await journal.webhooks.follow(keys, Date.now())
    for (const key of keys) await journal.webhooks.replaySince(key, 0)
  }
  const webhooks = urls.map((url) => ({ url, secretVariable: 'WEBHOOK_SECRET' }))
  const provider = await world.provider()
  const env = {
    // Rows come all the time, and not in a few large batches.
    SHEETS_REQUESTS_PER_MINUTE: '3000',
    SHEETS_REQUESTS_PER_DAY: '1000000',
    ...(urls.length > 0 && {
      WEBHOOK_SECRET: secret,
      ROLLCALL_CONFIG: JSON.stringify({ sites: { default: { webhooks } } }),
    }),
  }
  return { provider, service: await world.service(provider, { dataDir, env }) }
}

/** @param work posts signups, or none; resolves with their times */
async function sliceOf(one: Subject, work: () => Promise<readonly number[]>): Promise<Slice> {
  const before = await countsOf(one)
  const times = await work()
  const after = await countsOf(one)
  const of = (name: 'messages' | 'cpu') =>
    (1000 * (after[name] - before[name])) / (after.at - before.at)
  await untilRows(one, before.rows + times.length)
  const rows = (1000 * times.length) / (performance.now() - before.at)
  return { messages: of('messages'), cpu: of('cpu'), rows, p99: percentile(times, 0.99) }
}

async function untilRows(one: Subject, count: number): Promise<void> {
  while ((await countsOf(one)).rows < count) await pause(20)
}

async function untilNothingWaits(one: Subject): Promise<void> {
  let rows = -1
  for (;;) {
    const now = await countsOf(one)
    if (now.rows === rows) return
    rows = now.rows
    await pause(2000)
  }
}

async function countsOf({ service, provider, receiver }: Subject) {
  const { rows } = (await (await fetch(`${provider.url}/rows`)).json()) as { rows: number }
  const messages = receiver ? Number(await (await fetch(receiver.url)).text()) : 0
  return { rows, messages, cpu: cpuMicroseconds(service.pid), at: performance.now() }
}

type Line = Pick<Scenario, 'name' | 'what' | 'unit' | 'reach' | 'aim'> & {
  readonly measured: (series: Series) => Measured
}

const messagesOf = ({ messages }: Slice) => messages

const lines: readonly Line[] = [
  {
    name: 'webhooks',
    what: `messages a second to a receiver that takes ${receiverMs} ms, 1,000,000 signups behind`,
    unit: 'messages/s',
    reach: atLeast(500),
    aim: atLeast(700),
    measured: ({ alone }) => ({ values: alone.map(messagesOf), note: 'no signups meanwhile' }),
  },
  {
    name: 'webhooks-bare',
    what: `the same, by those that it takes from ${loadGenerator}, ten at a time`,
    unit: '×',
    reach: atLeast(0.5),
    aim: atLeast(0.7),
    measured: ({ alone, bare }) => by(alone.map(messagesOf), bare, 'messages/s'),
  },
  {
    name: 'webhooks-busy',
    what: 'the same messages a second, with signups at half of the full rate',
    unit: 'messages/s',
    reach: atLeast(500),
    aim: atLeast(700),
    measured: ({ busy, perSecond }) => ({
      values: busy.map(messagesOf),
      note: `${Math.round(perSecond)} signups/s`,
    }),
  },
  {
    name: 'webhooks-p99',
    what: 'p99 of these signups',
    unit: 'ms',
    reach: atMost(10),
    aim: atMost(5),
    measured({ busy, without }) {
      const values = busy.map(({ p99 }) => p99)
      const others = without.map(({ p99 }) => p99)
      const ratio = median(ratiosOf(values, others)).toFixed(2)
      return { values, note: `${shown(others)} ms without webhooks, ratio ${ratio}` }
    },
  },
  {
    name: 'webhooks-rows',
    what: 'rows of these signups a second, by those without webhooks',
    unit: '×',
    reach: atLeast(0.95),
    aim: atLeast(1),
    measured: ({ busy, without }) =>
      by(
        busy.map(({ rows }) => rows),
        without.map(({ rows }) => rows),
        'rows/s',
      ),
  },
  {
    name: 'webhooks-beside',
    what: 'messages a second while another endpoint hangs, by those alone',
    unit: '×',
    reach: atLeast(0.9),
    aim: atLeast(1),
    measured: ({ beside, alone }) =>
      by(beside.map(messagesOf), alone.map(messagesOf), 'messages/s'),
  },
  {
    name: 'webhooks-cpu',
    what: 'CPU of a message',
    unit: 'µs',
    reach: atMost(400),
    aim: atMost(200),
    measured({ alone, busy, without }) {
      const more = busy.map(({ cpu, messages }, round) => {
        return (cpu - (without[round]?.cpu ?? Number.NaN)) / messages
      })
      const percent = (some: readonly Slice[]) => shown(some.map(({ cpu }) => cpu / 10_000))
      return {
        values: alone.map(({ cpu, messages }) => cpu / messages),
        note: `no signups meanwhile; with them ${shown(more)} µs: ${percent(busy)} % of a core instead of ${percent(without)}`,
      }
    },
  },
]

/** The ratio of each round. */
function by(some: readonly number[], others: readonly number[], unit: string): Measured {
  return {
    values: ratiosOf(some, others),
    note: `${shown(some)} ${unit} against ${shown(others)}`,
  }
}

function ratiosOf(some: readonly number[], others: readonly number[]): readonly number[] {
  return some.map((value, round) => value / (others[round] ?? Number.NaN))
}

function shown(values: readonly number[]): string {
  const value = median(values)
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3)
}

const measurements = new Map<Sizes, Promise<Series>>()

/** One measurement gives all of these. */
export const webhookScenarios: readonly Scenario[] = lines.map(({ measured, ...scenario }) => ({
  ...scenario,
  async run(sizes) {
    const series = measurements.get(sizes) ?? measure(sizes)
    measurements.set(sizes, series)
    return measured(await series)
  },
}))
