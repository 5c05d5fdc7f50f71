import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import type { RowToRemove, RemovalOutcome } from '../journal/contracts/erasure.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import type { Removal, Retryable } from '../spreadsheet/spreadsheet.ts'
import { Remover } from './remover.ts'

const second = 1000
const minute = 60 * second

const down: Retryable = { kind: 'retryable', message: 'down' }
const removed = (standing: number[], others = standing.map(() => 0)): Removal => {
  return { kind: 'removed', standing, others }
}

/** A remover, with everything that it does, and how its tries and its scrubs end. */
function world(positions: readonly number[] = []) {
  const clock = new ManualClock()
  const giveUp = new AbortController()
  const it = {
    clock,
    giveUp,
    waiting: positions.map((position): RowToRemove => {
      const email = `${position}@example.com`
      return { position, tab: 'News', email, receivedAt: position, mark: undefined }
    }),
    ends: [] as Removal[],
    remove: async (_signal: AbortSignal): Promise<Removal> => it.ends.shift() ?? down,
    scrubs: [] as boolean[],
    triedAt: [] as number[],
    scrubbedAt: [] as number[],
    outcomes: [] as (RemovalOutcome & { readonly position: number })[],
    reports: [] as unknown[],
  }
  const events = changed(createEvents(createLog('silent'), createHealth(), clock), {
    rowsRemoved: (counts) => it.reports.push(counts),
    removalDelayed: (reason) => it.reports.push(reason),
  })
  const remover = new Remover({
    erasure: {
      removals: async () => [...it.waiting],
      removed: async (position, outcome) => {
        it.outcomes.push({ position, ...outcome })
        it.waiting = it.waiting.filter((row) => row.position !== position)
      },
      scrub: async () => {
        it.scrubbedAt.push(clock.elapsed())
        return it.scrubs.shift() ?? true
      },
    },
    spreadsheet: {
      remove: async (rows, signal) => {
        expect(rows).toEqual(it.waiting)
        it.triedAt.push(clock.elapsed())
        return it.remove(signal)
      },
    },
    clock,
    events,
    giveUp: giveUp.signal,
  })
  return Object.assign(it, { remover })
}

/** Lets the remover keep up, as a busy writer does. An idle one asks first whether work is due. */
async function keepUp(
  { remover, clock }: ReturnType<typeof world>,
  ms: number,
  { isIdle = false, everyMs = 250 } = {},
): Promise<void> {
  for (const end = clock.elapsed() + ms; clock.elapsed() < end;) {
    if (!isIdle || (await remover.isDue())) await remover.keepUp()
    await clock.run(everyMs)
  }
}

test('a removal that fails is tried after 5, 10 and 20 seconds, then each 30, and reported once until it succeeds', async () => {
  const it = world([1])
  it.ends = [down, down, down, down, down, removed([1]), down, removed([0])]
  await keepUp(it, 2 * minute)
  expect(it.triedAt).toEqual([0, 5, 15, 35, 65, 95, 96, 101].map((at) => at * second))
  expect(it.reports).toEqual(['down', 'down', { removed: 1, missing: 0 }])
})

test('a removal that fails for over an hour is tried each five minutes', async () => {
  const it = world([1])
  await keepUp(it, 70 * minute, { everyMs: 10 * second })
  const pauses = it.triedAt.map((at, index) => at - (it.triedAt[index - 1] ?? 0))
  expect(pauses.at(-1)).toBe(5 * minute)
})

test('a row is gone when a search finds none, and counts as removed only if a search found it before', async () => {
  const it = world([7, 8, 9])
  it.ends = [removed([1, 0, 2], [0, 3, 0]), removed([0, 1], [4, 0]), removed([0])]
  await keepUp(it, minute)
  expect(it.triedAt).toEqual([0, second, 2 * second])
  expect(it.outcomes).toEqual([
    { position: 8, wasFound: false, others: 3 },
    { position: 7, wasFound: true, others: 4 },
    { position: 9, wasFound: true, others: 0 },
  ])
  expect(it.reports).toEqual([
    { removed: 0, missing: 1 },
    { removed: 1, missing: 0 },
    { removed: 1, missing: 0 },
  ])
})

test('a try that fails halfway notes the rows that are gone, and waits', async () => {
  const it = world([1, 2])
  it.ends = [{ ...removed([0, 1]), failure: down } as Removal, removed([0])]
  await keepUp(it, minute)
  expect(it.outcomes.map(({ position }) => position)).toEqual([1, 2])
  expect(it.triedAt).toEqual([0, 5 * second])
  expect(it.reports).toEqual([{ removed: 0, missing: 1 }, 'down', { removed: 1, missing: 0 }])
})

test('a try is given up after five minutes, and when the writer gives up', async () => {
  const it = world([1])
  it.remove = (signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve(down)
      signal.addEventListener('abort', () => resolve(down))
    })
  const late = it.remover.keepUp()
  await it.clock.run(5 * minute)
  await late
  await it.clock.run(minute)
  const stopped = it.remover.keepUp()
  it.giveUp.abort()
  await stopped
  expect(it.triedAt).toEqual([0, 6 * minute])
})

test('the log of the journal is emptied at the start, after removals, and again a second after that was prevented', async () => {
  const it = world()
  it.scrubs = [false, false, true, false, true]
  await keepUp(it, minute, { isIdle: true })
  expect(it.scrubbedAt).toEqual([0, second, 2 * second])
  it.waiting = world([1]).waiting
  it.ends = [removed([0])]
  await keepUp(it, minute, { isIdle: true })
  expect(it.scrubbedAt.slice(3)).toEqual([60.25 * second, 61.25 * second])
})

test('an idle writer makes the next try for rows that wait when it is due', async () => {
  const it = world([1])
  it.ends = [down, removed([2]), removed([0])]
  await keepUp(it, minute, { isIdle: true })
  expect(it.triedAt).toEqual([0, 5, 6].map((at) => at * second))
})

test('no work is due before the time of the next try', async () => {
  const it = world([1])
  await it.remover.keepUp()
  await it.clock.run(5 * second - 1)
  expect(await it.remover.isDue()).toBe(false)
  await it.clock.run(1)
  expect(await it.remover.isDue()).toBe(true)
})
