import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'

import { type Fault, seededRandom } from '../../emulators/google-sheets/faults.ts'
import { createGoogleWorld, type GoogleWorld } from '../../harness/google-world.ts'
import { type PostgresServer, startPostgres } from '../../harness/postgres-server.ts'
import type { AcceptedSignup } from './crash-load.ts'
import { Instances } from './instances.ts'
import { visit } from './instances-load.ts'
import { journalOf } from './journal-of.ts'

const tabs = ['Sheet1', 'News', 'Events']
/** So few that delivery in many rounds uses them up. */
const callsPerMinute = 30

const harms: readonly Fault[] = [
  { apply: 'now', answer: 'drop' },
  { apply: 'later', answer: 'drop', applyAfterMs: 700 },
  { apply: 'never', answer: 'unavailable' },
]

export interface RoundsOptions {
  readonly rounds: number
  readonly seed: number
}

/**
 * Runs three instances on one database under load, and harms one of them or the database in each round.
 * Expects that every answered signup is one row, in order, and that every minute keeps the quota.
 */
export async function expectToSurvive({ rounds, seed }: RoundsOptions): Promise<void> {
  console.log(`The seed of the instances is ${seed}. SEED=${seed} harms the same ones again.`)
  await using server = await startPostgres({ isDurable: true })
  await using database = await server.createDatabase()
  await using world = await createGoogleWorld({ seed })
  const onSome = { on: 'batchUpdate', probability: 0.03, times: 0 } as const
  world.emulator.faults.add(...harms.map((harm) => ({ ...harm, ...onSome })))
  await using instances = await Instances.start(3, {
    ...world.env,
    DATABASE_URL: database.url,
    SHEETS_REQUESTS_PER_MINUTE: String(callsPerMinute),
    RATE_LIMIT_PER_MINUTE: '0',
  })

  const stop = new AbortController()
  const nextUrl = () => instances.nextUrl()
  const visiting = visit({ nextUrl, tabs, visitorsAtOnce: 6, pauseMs: 40, stop: stop.signal })
  const restarts = await harm(instances, server, rounds, seededRandom(seed))
  stop.abort()
  const visits = await visiting
  world.emulator.faults.clear()
  await instances.allDelivered()
  world.emulator.releaseLate()

  const journal = await journalOf(database.url)
  const { kills, wakes } = instances
  console.log(
    `${rounds} rounds: ${kills} kills, ${wakes.length} stops, ${restarts} restarts of the database; ` +
      `${visits.accepted.length} signups answered with 2xx, ${visits.refused} requests with 503 or not at all, ` +
      `${journal.signups.length} in the journal; the lease had ${journal.terms} terms`,
  )
  expectOneRowEach(visits.accepted, visits.unclear, journal.signups)
  await expectRowsInOrder(world, journal.signups)
  expectQuota(world, wakes)
  expect(await instances.end()).toEqual([0, 0, 0])
}

/** Returns how often the database was restarted. */
async function harm(
  instances: Instances,
  server: PostgresServer,
  rounds: number,
  random: () => number,
): Promise<number> {
  let restarts = 0
  for (let round = 0; round < rounds; round += 1) {
    await sleep(500 + random() * 1000)
    // Two of the three.
    const one = Math.floor(random() * 3)
    const other = (one + 1 + Math.floor(random() * 2)) % 3
    const otherMs = random() * 1000
    const stillMs = random() < 0.5 ? 500 + random() * 2000 : 7000 + random() * 3000
    if (round % 5 === 4) {
      await server.stop(random() < 0.5 ? 'fast' : 'immediate')
      await sleep(random() * 1500)
      await server.start()
      restarts += 1
      continue
    }
    const killing = sleep(otherMs).then(() => instances.kill(other))
    await (round % 2 === 0 ? instances.kill(one) : instances.stop(one, stillMs))
    await killing
  }
  return restarts
}

function expectOneRowEach(
  accepted: readonly AcceptedSignup[],
  unclear: ReadonlySet<string>,
  journal: readonly AcceptedSignup[],
): void {
  const known = new Map(journal.map((signup) => [signup.id, signup]))
  expect(accepted.filter(({ id, email }) => known.get(id)?.email !== email)).toEqual([])
  const answered = new Set(accepted.map(({ email }) => email))
  expect(answered.size).toBe(accepted.length)
  // Nobody is there twice, and nobody who has not signed up.
  expect(new Set(journal.map(({ email }) => email)).size).toBe(journal.length)
  expect(journal.filter(({ email }) => !answered.has(email) && !unclear.has(email))).toEqual([])
}

async function expectRowsInOrder(
  world: GoogleWorld,
  journal: readonly AcceptedSignup[],
): Promise<void> {
  for (const tab of tabs) {
    const rows = ((await world.rows(tab)) ?? []).slice(1).map(([email]) => email)
    expect(rows, tab).toEqual(
      journal.filter((signup) => signup.tab === tab).map(({ email }) => email),
    )
  }
}

/** How long after a process goes on a call of it may arrive that it had reserved before. */
const lateMs = 2000

/**
 * A writer that stands still between the reservation of a call and the call may add that one call to the
 * minute in which it goes on.
 */
function expectQuota(world: GoogleWorld, wakes: readonly number[]): void {
  const times = world.emulator.log
    .calls()
    .filter(({ kind }) => kind !== 'token')
    .map(({ time }) => Date.parse(time))
    .sort((a, b) => a - b)
  const within = (all: readonly number[], from: number, to: number) =>
    all.filter((time) => time >= from && time < to).length
  const minutes = times.map((from) => ({
    calls: within(times, from, from + 60_000),
    late: within(wakes, from - lateMs, from + 60_000),
  }))
  const most = Math.max(...minutes.map(({ calls }) => calls))
  console.log(`${times.length} calls, at most ${most} in a minute`)
  expect(minutes.filter(({ calls, late }) => calls > callsPerMinute + late)).toEqual([])
}
