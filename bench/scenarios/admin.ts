import { setTimeout as pause } from 'node:timers/promises'
import { type Operator, signIn } from '../../harness/admin.ts'
import { fillAdminJournal } from '../admin-journal.ts'
import { medianInterval } from '../against/interval.ts'
import { alternate, inWords, ratios } from '../alternate.ts'
import { signingUp } from '../load.ts'
import { cpuMicroseconds } from '../processes.ts'
import { atMost, median, type Measured, type Scenario, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'

const token = 'correct-horse-battery-staple'
const env = { ADMIN_TOKEN: token }
/** The processor time of a process is told in steps of 10 ms, so a view is asked for many times. */
const asked = 20

type Ask = (visitor: Operator) => Promise<Response>

const get =
  (path: string): Ask =>
  (visitor) =>
    visitor.get(path)

const views: Readonly<Record<string, Ask>> = {
  'overview 24h': get('?period=24h'),
  'overview 7d': get('?period=7d'),
  'overview 30d': get('?period=30d'),
  'overview 90d': get('?period=90d'),
  signups: get('/signups'),
  'signups of a tab': get('/signups?tab=Tab+7'),
  quarantine: get('/signups?state=held'),
  pending: get('/signups?state=pending'),
  sending: get('/sending'),
  work: get('/work'),
  person: (visitor) => visitor.post('/person', { email: 'person7@example.com' }),
}

/** How many signups are there: ADMIN_ROWS, or as in other large journals. */
const rowsOf = (sizes: Sizes) => Number(process.env['ADMIN_ROWS'] ?? sizes.large)

/** The milliseconds of processor time that the service takes for a view, by its name. */
async function measureViews(sizes: Sizes): Promise<ReadonlyMap<string, readonly number[]>> {
  await using world = await World.create()
  const dataDir = await fillAdminJournal(world.path('admin'), rowsOf(sizes))
  const { url, pid } = await world.service(undefined, { dataDir, env })
  const visitor = await signIn(url, token)
  const cpuOf = async (ask: Ask, times: number) => {
    const before = cpuMicroseconds(pid)
    for (let time = 0; time < times; time += 1) {
      const answer = await ask(visitor)
      const text = await answer.text()
      if (!answer.ok) throw new Error(`A view was answered ${answer.status}: ${text}`)
    }
    return (cpuMicroseconds(pid) - before) / 1000 / times
  }
  const times = new Map<string, number[]>()
  const rounds = Math.min(3, sizes.rounds)
  for (const [name, ask] of Object.entries(views)) {
    if (sizes.rounds > 1) await cpuOf(ask, asked)
    const measured: number[] = []
    for (let round = 0; round < rounds; round += 1) measured.push(await cpuOf(ask, asked))
    times.set(name, measured)
  }
  return times
}

function worstOf(times: ReadonlyMap<string, readonly number[]>): Measured {
  const sorted = [...times].toSorted(([, one], [, other]) => median(other) - median(one))
  const told = sorted.map(([name, values]) => `${name} ${median(values).toFixed(1)}`)
  return { values: sorted[0]?.[1] ?? [], note: `the worst first: ${told.join(', ')} ms` }
}

const viewLine: Scenario = {
  name: 'admin',
  what: 'CPU time of the worst view of the admin page, many signups behind',
  unit: 'ms',
  reach: atMost(50),
  aim: atMost(30),
  run: async (sizes) => {
    const { values, note } = worstOf(await measureViews(sizes))
    return { values, note: `${rowsOf(sizes)} signups; ${note}` }
  },
}

/** One overview each ten seconds, and another view each second. */
async function look(visitor: Operator, signal: AbortSignal): Promise<void> {
  const others = ['/signups', '/signups?state=held', '/sending', '/work']
  for (let second = 0; !signal.aborted; second += 1) {
    if (second % 10 === 0) await (await visitor.get('?period=7d')).text()
    await (await visitor.get(others[second % others.length] ?? '')).text()
    await pause(1000, undefined, { signal }).catch(() => undefined)
  }
}

const openLine: Scenario = {
  name: 'admin-open',
  what: 'CPU time of a signup while somebody looks at the admin page, by that without',
  unit: '×',
  reach: atMost(1.02),
  aim: atMost(1.01),
  async run(sizes) {
    await using world = await World.create()
    const start = async (name: string) => {
      const dataDir = await fillAdminJournal(world.path(name), rowsOf(sizes))
      return world.service(undefined, { dataDir, env })
    }
    const without = await start('without')
    const open = await start('open')
    const visitor = await signIn(open.url, token)
    const slice = signingUp(world)
    const sliceWithPage = async (url: string, seconds: number) => {
      const end = new AbortController()
      const looking = look(visitor, end.signal)
      try {
        return await slice(url, seconds)
      } finally {
        end.abort()
        await looking
      }
    }
    // As many seconds as lie between two overviews.
    const sliceSeconds = sizes.rounds === 1 ? sizes.sliceSeconds : 10
    const rates = await alternate(
      { service: without, slice },
      { service: open, slice: sliceWithPage },
      { ...sizes, sliceSeconds },
    )
    const values = ratios(rates.cpu)
    return { values, note: inWords(rates), interval: medianInterval(values) }
  },
}

export const adminScenarios: readonly Scenario[] = [viewLine, openLine]
