import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import type { RowToRemove } from '../journal/contracts/erasure.ts'
import { JournalUnavailable } from '../journal/contracts/errors.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import type { Removal, Retryable, RowToRemove as Wanted } from '../spreadsheet/spreadsheet.ts'
import { Listeners } from '../platform/listeners.ts'
import type { Signup } from '../signup/signup.ts'
import { Remover } from './remover.ts'
import { minute, second } from '../platform/clock.ts'

const down: Retryable = { kind: 'retryable', message: 'down' }
const removed = (standing: number[]): Removal => ({ kind: 'removed', standing })

function rowAt(position: number, isLeaving = false): RowToRemove {
  const email = `${position}@example.com`
  return { position, tab: 'News', email, receivedAt: position, isLeaving }
}

/** A remover, with everything that it does, and how its tries and its scrubs end. */
function world(positions: readonly number[] = []) {
  const clock = new ManualClock()
  const stopping = new AbortController()
  const it = {
    clock,
    stopping,
    waiting: positions.map((position) => rowAt(position)),
    fail: () => {},
    spared: (_row: RowToRemove): readonly Signup[] | undefined => [],
    ends: [] as Removal[],
    asked: [] as number[],
    asks: undefined as ((rows: readonly Wanted[]) => void) | undefined,
    remove: async (_signal: AbortSignal): Promise<Removal> => it.ends.shift() ?? down,
    scrubs: [] as boolean[],
    triedAt: [] as number[],
    scrubbedAt: [] as number[],
    gone: [] as number[],
    reports: [] as unknown[],
    looks: 0,
    erased: new Listeners<undefined>(),
  }
  const events = changed(createEvents(createLog('silent'), createHealth(), clock), {
    rowsRemoved: (rows) => it.reports.push(rows),
    removalDelayed: (reason) => it.reports.push(reason),
  })
  const remover = new Remover({
    erasure: {
      removals: async (after) => {
        it.looks += 1
        it.fail()
        return it.waiting.filter(({ position }) => position > after)
      },
      spared: async (rows) => rows.map((row) => it.spared(row)),
      removed: async (positions) => {
        it.gone.push(...positions)
        it.waiting = it.waiting.filter(({ position }) => !positions.includes(position))
      },
      scrub: async () => {
        it.scrubbedAt.push(clock.elapsed())
        return it.scrubs.shift() ?? true
      },
    },
    spreadsheet: {
      remove: async (rows, signal) => {
        const last = (row: RowToRemove) => (row.isLeaving ? 1 : 0)
        const asked = it.waiting.toSorted((one, other) => last(one) - last(other))
        const told = asked.flatMap((row) => {
          const spared = it.spared(row)
          return spared ? [{ ...row, spared }] : []
        })
        if (it.asks) it.asks(rows)
        else expect(rows).toEqual(told)
        it.triedAt.push(clock.elapsed())
        return it.remove(signal)
      },
    },
    clock,
    events,
    stopping: stopping.signal,
    erased: it.erased,
    lookEveryMs: lookMs,
  })
  return Object.assign(it, { remover })
}

/** How often the remover looks for rows. */
const lookMs = 5 * second

/** Lets the remover run so long, and stops it. */
async function keepUp({ remover, clock, stopping }: ReturnType<typeof world>, ms: number) {
  const running = remover.run()
  await clock.run(ms)
  stopping.abort()
  await running
}

test('a removal that fails is tried after 5, 10 and 20 seconds, then each 30, and reported once until it succeeds', async () => {
  const it = world([1])
  it.ends = [down, down, down, down, down, removed([1]), down, removed([0])]
  await keepUp(it, 2 * minute)
  expect(it.triedAt).toEqual([0, 5, 15, 35, 65, 95, 96, 101].map((at) => at * second))
  expect(it.reports).toEqual(['down', 'down', 1])
})

test('a search is told which signups keep their rows, by which rows of one person are told apart', async () => {
  const it = world([1, 2])
  const kept = makeSignup()
  it.spared = ({ position }) => (position === 1 ? [kept] : [])
  const told: unknown[] = []
  it.asks = (rows) => told.push(rows.map(({ spared }) => spared))
  it.ends = [removed([0, 0])]
  await keepUp(it, second)
  expect(told).toEqual([[[kept], []]])
})

test('a removal that fails for over an hour is tried each five minutes', async () => {
  const it = world([1])
  await keepUp(it, 70 * minute)
  const pauses = it.triedAt.map((at, index) => at - (it.triedAt[index - 1] ?? 0))
  expect(pauses.at(-1)).toBe(5 * minute)
})

test('a row that nobody can tell apart yet waits, and holds no other back', async () => {
  const it = world([7, 8])
  let isThere = false
  it.spared = ({ position }) => (position === 7 && !isThere ? undefined : [])
  it.ends = [removed([0]), removed([0])]
  const running = keepUp(it, 10 * second)
  await it.clock.run(0)
  expect(it.gone).toEqual([8])
  isThere = true
  await running
  expect(it.gone).toEqual([8, 7])
  expect(it.triedAt).toHaveLength(2)
})

test('a row is gone when a search finds none', async () => {
  const it = world([7, 8, 9])
  it.ends = [removed([1, 0, 2]), removed([0, 1]), removed([0])]
  await keepUp(it, minute)
  expect(it.triedAt).toEqual([0, second, 2 * second])
  expect(it.gone).toEqual([8, 7, 9])
  expect(it.reports).toEqual([1, 1, 1])
})

test('a try that fails halfway notes the rows that are gone, and waits', async () => {
  const it = world([1, 2])
  it.ends = [{ ...removed([0, 1]), failure: down } as Removal, removed([0])]
  await keepUp(it, minute)
  expect(it.gone).toEqual([1, 2])
  expect(it.triedAt).toEqual([0, 5 * second])
  expect(it.reports).toEqual([1, 'down', 1])
})

test('a stop gives up a try, and is no failure', async () => {
  const it = world([1])
  it.remove = (signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(down)))
  await keepUp(it, minute)
  expect(it.triedAt).toEqual([0])
  expect(it.reports).toEqual([])
})

test('the log of the journal is emptied at the start, after removals, and again a second after that was prevented', async () => {
  const it = world()
  it.scrubs = [false, false, true, false, true]
  const { remover, clock } = it
  const running = remover.run()
  await clock.run(minute)
  expect(it.scrubbedAt).toEqual([0, second, 2 * second])
  it.waiting = world([1]).waiting
  it.ends = [removed([0])]
  await clock.run(minute)
  const [first = 0, again] = it.scrubbedAt.slice(3)
  expect(first).toBeLessThanOrEqual(minute + 2 * lookMs)
  expect(again).toBe(first + second)
  it.stopping.abort()
  await running
})

test('a journal that fails is asked again later, and no search is made without it', async () => {
  const it = world([1])
  let failures = 2
  it.fail = () => {
    failures -= 1
    if (failures >= 0) throw new JournalUnavailable('disk full')
  }
  it.ends = [removed([0])]
  await keepUp(it, minute)
  expect(it.triedAt).toEqual([15 * second])
})

test('a row to remove wakes the remover, which looks rarely while nothing waits', async () => {
  const it = world()
  const { clock, stopping } = it
  const running = it.remover.run()
  await clock.run(minute)
  expect(it.looks).toBeLessThanOrEqual(minute / lookMs + 1)
  it.ends = [removed([0])]
  it.waiting = [rowAt(1)]
  it.erased.tell(undefined)
  await clock.run(1)
  expect(it.gone).toEqual([1])
  stopping.abort()
  await running
})

test('rows of people who leave gather: one search looks for all, each half a minute', async () => {
  const it = world()
  it.remove = async () => removed(it.waiting.map(() => 0))
  const { remover, clock, stopping } = it
  const running = remover.run()
  for (let at = 0; at < 40; at++) {
    it.waiting = [...it.waiting, rowAt(2 * at + 2, true)]
    await clock.run(5 * second)
  }
  const [first = 0] = it.triedAt
  expect(it.triedAt.map((at) => (at - first) / second)).toEqual([0, 30, 60, 90, 120, 150, 180])
  // A row of `forget` waits for nothing, and takes the others along.
  it.waiting = [...it.waiting, rowAt(1001)]
  await clock.run(lookMs)
  expect(it.waiting).toEqual([])
  stopping.abort()
  await running
})

test('somebody with more rows than a search takes holds up nobody else', async () => {
  const it = world()
  const eve = Array.from({ length: 1_500 }, (_, at) => ({
    ...rowAt(at + 1, true),
    email: 'eve@x.example',
  }))
  it.waiting = [...eve, rowAt(2_000, true)]
  it.asks = (rows) =>
    it.asked.push(
      rows.length,
      rows.findIndex(({ email }) => email.startsWith('2000@')),
    )
  it.remove = async () => removed(Array.from({ length: it.asked.at(-2) ?? 0 }, () => 0))
  await keepUp(it, 5 * second)
  expect(it.asked).toEqual([1_000, 1, 501, -1])
})
