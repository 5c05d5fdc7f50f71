import type { PostgresServer } from '../../harness/postgres-server.ts'
import { atMost, type Figure, type Measured, median, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'
import { medianInterval } from './interval.ts'
import { type Life, live } from './life.ts'
import { checkOut } from './tree.ts'

/** The pairs of a whole run: enough for an interval of 95 % that leaves out four values at each end. */
const pairs = 18

/** How much more of anything this tree may need, and how much it should. */
const bounds = { unit: '×', reach: atMost(1.02), aim: atMost(1) } as const

type Cost = readonly [name: string, key: keyof Life, what: string, unit: string]

const costs: readonly Cost[] = [
  ['against-signup', 'cpuPerSignup', 'CPU of a signup, 64 connections', 'µs'],
  ['against-keyed', 'cpuPerKeyedSignup', 'CPU of a signup with a key, 64 connections', 'µs'],
  ['against-bulk', 'cpuPerBulkSignup', 'CPU of a signup in a bulk request of 1,000', 'µs'],
  ['against-row', 'cpuPerRow', 'CPU of a delivered row', 'µs'],
  ['against-start', 'startMs', 'time from the start of the process until it listens', 'ms'],
  ['against-memory', 'startMegabytes', 'memory (RSS) when it listens', 'MB'],
  ['against-peak', 'peakMegabytes', 'memory (peak RSS) under load', 'MB'],
]

const costsOnPostgres: readonly Cost[] = [
  [
    'against-signup-postgres',
    'cpuPerSignup',
    'CPU of a signup on PostgreSQL, without its own',
    'µs',
  ],
  [
    'against-row-postgres',
    'cpuPerRow',
    'CPU of a delivered row on PostgreSQL, without its own',
    'µs',
  ],
]

/** One figure of the last commit of this tree, by that of another commit. */
export interface Comparison {
  readonly figure: Figure
  readonly measured: Measured
}

/**
 * Measures the last commit of this tree beside another commit, in turn: each starts in a data folder of its
 * own, takes signups and delivers them.
 *
 * @throws Error when Git does not know the commit, or its set-up or its service fails
 */
export async function compareWith(
  commit: string,
  { rounds, sliceSeconds }: Pick<Sizes, 'rounds' | 'sliceSeconds'>,
): Promise<readonly Comparison[]> {
  await using world = await World.create()
  await using before = await checkOut(commit, world.path('before'))
  await using now = await checkOut('HEAD', world.path('now'))
  const trees = { before, now }
  const beside = `beside commit ${before.commit.slice(0, 8)}`
  const seconds = sliceSeconds
  const count = rounds > 1 ? pairs : 1
  const compared = async (measured: readonly Cost[], server?: PostgresServer) => {
    const lives = await inTurn(count, (side) => live(trees[side], seconds, server))
    return measured.map(([name, key, what, unit]) => {
      const values = lives.map((pair) => pair.now[key] / pair.before[key])
      const medianOf = (side: Side) => median(lives.map((pair) => pair[side][key])).toPrecision(3)
      const note = `${medianOf('now')} against ${medianOf('before')} ${unit}`
      const figure = { name, what: `${what}, ${beside}`, ...bounds }
      return { figure, measured: { values, note, interval: medianInterval(values) } }
    })
  }
  const onSqlite = await compared(costs)
  const onPostgres = await compared(costsOnPostgres, await world.database())

  const { installMegabytes: own } = now
  const { installMegabytes: old } = before
  const install = {
    figure: { name: 'against-install', what: `what npm start installs, ${beside}`, ...bounds },
    measured: {
      values: [own / old],
      note: `${own.toFixed(0)} against ${old.toFixed(0)} MB`,
    },
  }
  return [...onSqlite, ...onPostgres, install]
}

type Side = 'before' | 'now'

/** Measures both sides as often, one after the other. Who goes first takes turns as well. */
async function inTurn<T>(
  pairCount: number,
  measure: (side: Side) => Promise<T>,
): Promise<readonly Readonly<Record<Side, T>>[]> {
  const measured: Record<Side, T>[] = []
  for (let pair = 0; pair < pairCount; pair++) {
    if (pair % 2 === 0) {
      const before = await measure('before')
      measured.push({ before, now: await measure('now') })
    } else {
      const now = await measure('now')
      measured.push({ before: await measure('before'), now })
    }
  }
  return measured
}
