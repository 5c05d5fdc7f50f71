import { expect, test } from 'vitest'

import type { BudgetLimits } from '../http/budget.ts'
import { Waiting } from './waiting.ts'
import type { Appended, SignupStatus } from '../journal/contracts/intake-log.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { createHealth } from '../ops/health.ts'
import { changed } from '../../harness/changed.ts'
import { freezeNext } from '../../harness/freeze-next.ts'
import { makeSignups } from '../../harness/make-signup.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { second } from '../platform/clock.ts'

const limits = { rowsMax: 100_000, bytesMax: 1_000_000_000 }
const staying = () => new AbortController().signal

/** A clock that notes how many slept at most at the same time. */
class CountingClock extends ManualClock {
  most = 0

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const slept = super.sleep(ms, signal)
    this.most = Math.max(this.most, this.sleeping)
    return slept
  }
}

function world(waitingMax?: BudgetLimits) {
  const journal = openSqliteJournal(':memory:')
  const health = createHealth()
  const clock = new CountingClock()
  const waiting = new Waiting({
    journal: journal.intake,
    health,
    clock,
    ...(waitingMax && { waitingMax }),
  })
  return {
    journal,
    health,
    clock,
    waiting,
    accept: async (count: number, sheetTab = 'Sheet1') =>
      storedOf(await journal.intake.append(makeSignups(count, { sheetTab }))),
    deliver: async (rowsMax = limits.rowsMax) => {
      const batch = await freezeNext(journal.delivery, { ...limits, rowsMax })
      await journal.delivery.settle(batch?.number ?? 0, clock.now())
    },
    /** Waits for these signups, and notes when the wait is over. */
    wait: (
      signups: readonly SignupStatus[],
      seconds: number,
      left = staying(),
      address?: string,
    ) => {
      const since = clock.elapsed()
      const visitor = { waitedMs: undefined as number | undefined }
      const patience = { until: since + seconds * second, left }
      void waiting.untilWritten(signups, patience, address).then(() => {
        visitor.waitedMs = clock.elapsed() - since
      })
      return visitor
    },
    [Symbol.asyncDispose]: async () => {
      waiting.stop()
      await journal[Symbol.asyncDispose]()
    },
  }
}

test('a wait ends within a second after another process has settled the batch', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new CountingClock()
  // No listener hears of the settled batch, as when another process settles it.
  const untold = changed(journal.intake, { onSettle: () => () => undefined })
  const waiting = new Waiting({ journal: untold, health: createHealth(), clock })
  const signups = storedOf(await journal.intake.append(makeSignups(1)))
  let isOver = false
  const patience = { until: clock.elapsed() + 30 * second, left: staying() }
  void waiting.untilWritten(signups, patience, undefined).then(() => (isOver = true))
  await clock.run(second)
  expect(isOver).toBe(false)
  const batch = await freezeNext(journal.delivery)
  await journal.delivery.settle(batch?.number ?? 0, clock.now())
  await clock.run(second)
  expect(isOver).toBe(true)
  waiting.stop()
})

test('a journal that answers slowly or not at all keeps no visitor longer than asked', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new CountingClock()
  let looks = 0
  const slow = changed(journal.intake, {
    cursors: async () => {
      looks += 1
      await clock.sleep(8 * second)
      throw new Error('The database does not answer')
    },
  })
  const waiting = new Waiting({ journal: slow, health: createHealth(), clock })
  const signups = storedOf(await journal.intake.append(makeSignups(2)))
  const ended: number[] = []
  for (const seconds of [1, 20]) {
    const patience = { until: clock.elapsed() + seconds * second, left: staying() }
    void waiting.untilWritten(signups, patience, undefined).then(() => ended.push(clock.elapsed()))
  }
  await clock.run(5 * second)
  expect(ended).toEqual([1000])
  expect(looks).toBe(1)
  await clock.run(20 * second)
  expect(ended).toEqual([1000, 20_000])
  expect(looks).toBe(3)
  waiting.stop()
})

test('a look that began before a batch was settled does not take its rows back', async () => {
  await using journal = openSqliteJournal(':memory:')
  const clock = new CountingClock()
  const slow = changed(journal.intake, {
    cursors: async (tabs) => {
      const before = await journal.intake.cursors(tabs)
      await clock.sleep(second)
      return before
    },
  })
  const waiting = new Waiting({ journal: slow, health: createHealth(), clock })
  const signups = storedOf(await journal.intake.append(makeSignups(2)))
  const patience = { until: clock.elapsed() + 10 * second, left: staying() }
  void waiting.untilWritten(signups, patience, undefined)
  await clock.run(600)
  const batch = await freezeNext(journal.delivery, { ...limits, rowsMax: 1 })
  await journal.delivery.settle(batch?.number ?? 0, clock.now())
  for (let seconds = 0; seconds < 2; seconds++) {
    expect(signups.map((signup) => waiting.isWritten(signup))).toEqual([true, false])
    await clock.run(second)
  }
  waiting.stop()
})

test('a wait for several signups ends when the last of them is settled', async () => {
  await using it = world()
  const signups = [...(await it.accept(2, 'A')), ...(await it.accept(2, 'B'))]
  const visitor = it.wait(signups, 30)
  await it.clock.run(second)
  await it.deliver(3)
  await it.clock.run(second)
  expect(visitor.waitedMs).toBeUndefined()
  expect(signups.map((signup) => it.waiting.isWritten(signup))).toEqual([true, false, true, true])
  await it.deliver(3)
  await it.clock.run(0)
  expect(visitor.waitedMs).toBe(2 * second)
})

test('a wait for a signup that is already settled is over at once', async () => {
  await using it = world()
  const signups = await it.accept(1)
  await it.deliver()
  const visitor = it.wait(signups, 30)
  await it.clock.run(0)
  expect(visitor.waitedMs).toBe(0)
})

test('a wait is never longer than asked, and at most 200 ms shorter', async () => {
  await using it = world()
  const signups = await it.accept(1)
  const visitors = Array.from({ length: 30 }, (_, index) => it.wait(signups, index + 1))
  await it.clock.run(33)
  const late = it.wait(signups, 2)
  await it.clock.run(31 * second)
  for (const [index, { waitedMs }] of [...visitors, late].entries()) {
    const asked = (visitors[index] ? index + 1 : 2) * second
    expect(waitedMs).toBeLessThanOrEqual(asked)
    expect(waitedMs).toBeGreaterThanOrEqual(asked - 200)
  }
})

test('a wait is over at once while delivery is blocked, and soon after it becomes so', async () => {
  await using it = world()
  const signups = await it.accept(1)
  const early = it.wait(signups, 30)
  await it.clock.run(second)
  it.health.delivery = { state: 'blocked', reason: 'credentials', error: '', hint: '' }
  await it.clock.run(second)
  expect(early.waitedMs).toBeLessThanOrEqual(1200)
  const late = it.wait(signups, 30)
  await it.clock.run(0)
  expect(late.waitedMs).toBe(0)
})

test('a tab that is set aside ends the waits for that tab alone', async () => {
  await using it = world()
  const [locked, free] = [await it.accept(1, 'Locked'), await it.accept(1, 'Free')]
  const waits = [it.wait(locked, 30), it.wait(free, 30), it.wait([...free, ...locked], 30)]
  const trouble = { reason: 'protectedTab', error: '', hint: '' } as const
  it.health.tabs.set('locked', { name: 'Locked', place: 'the tab at place 2', ...trouble })
  await it.clock.run(second)
  expect(waits.map(({ waitedMs }) => waitedMs !== undefined)).toEqual([true, false, true])
})

test('a tab whose signups are written ends no wait when it is set aside', async () => {
  await using it = world()
  const both = [...(await it.accept(1, 'Locked')), ...(await it.accept(1, 'Free'))]
  const visitor = it.wait(both, 30)
  await it.deliver(1)
  const trouble = { reason: 'protectedTab', error: '', hint: '' } as const
  it.health.tabs.set('locked', { name: 'Locked', place: 'the tab at place 2', ...trouble })
  await it.clock.run(2 * second)
  expect(visitor.waitedMs).toBeUndefined()
  await it.deliver()
  await it.clock.run(0)
  expect(visitor.waitedMs).toBe(2 * second)
})

test('a wait ends when its visitor leaves, and does not begin after that', async () => {
  await using it = world()
  const signups = await it.accept(1)
  const leaving = new AbortController()
  const visitor = it.wait(signups, 30, leaving.signal)
  await it.clock.run(second)
  leaving.abort()
  await it.clock.run(0)
  expect(visitor.waitedMs).toBe(second)
  const gone = it.wait(signups, 30, leaving.signal)
  await it.clock.run(0)
  expect(gone.waitedMs).toBe(0)
})

test('a stop ends every wait at once, and no wait begins after it', async () => {
  await using it = world()
  const signups = await it.accept(1)
  const before = it.wait(signups, 30)
  await it.clock.run(second)
  it.waiting.stop()
  const after = it.wait(signups, 30)
  await it.clock.run(0)
  expect([before.waitedMs, after.waitedMs]).toEqual([second, 0])
  expect(it.clock.sleeping).toBe(0)
})

test('when too many signups wait, of one client or in all, the next ones are answered at once', async () => {
  await using it = world({ max: 4, clientMax: 2 })
  const [one, two, three] = [await it.accept(1), await it.accept(1), await it.accept(2)]
  const waits = [
    it.wait(one, 30, staying(), 'a'),
    it.wait(three, 30, staying(), 'a'),
    it.wait(two, 30, staying(), 'a'),
    it.wait(one, 30, staying(), 'a'),
    it.wait(three, 30, staying(), 'b'),
    it.wait(one, 30, staying(), 'c'),
    it.wait(one, 30),
  ]
  await it.clock.run(second)
  const waitsStill = (visitors: typeof waits) =>
    visitors.map(({ waitedMs }) => waitedMs === undefined)
  expect(waitsStill(waits)).toEqual([true, false, true, false, true, false, false])
  await it.deliver(2)
  const later = [it.wait(three, 30, staying(), 'a'), it.wait(three, 30, staying(), 'c')]
  await it.clock.run(second)
  expect(waitsStill([...waits, ...later])).toEqual([
    ...[false, false, false, false, true, false, false],
    ...[true, false],
  ])
})

test('a visitor who leaves or whose wait is over makes room for others', async () => {
  await using it = world({ max: 2, clientMax: 2 })
  const signups = await it.accept(1)
  const leaving = new AbortController()
  it.wait(signups, 30, leaving.signal)
  it.wait(signups, 1)
  leaving.abort()
  await it.clock.run(2 * second)
  const later = [it.wait(signups, 30), it.wait(signups, 30), it.wait(signups, 30)]
  await it.clock.run(second)
  expect(later.map(({ waitedMs }) => waitedMs === undefined)).toEqual([true, true, false])
})

test('each wait ends with the batch of its own signup, in whatever order the waits began', async () => {
  await using it = world()
  const signups = await it.accept(6)
  const order = [3, 0, 5, 3, 1, 0, 4, 2]
  const leaving = new AbortController()
  const waits = order.map((index) => it.wait(signups.slice(index, index + 1), 30))
  for (const index of order) it.wait(signups.slice(index, index + 1), 30, leaving.signal)
  leaving.abort()
  for (let delivered = 1; delivered <= 6; delivered++) {
    await it.deliver(1)
    await it.clock.run(0)
    expect(waits.map(({ waitedMs }) => waitedMs !== undefined)).toEqual(
      order.map((index) => index < delivered),
    )
  }
})

test('ten thousand waits share one timer, and one settled batch ends them all', async () => {
  await using it = world()
  const signups = await it.accept(10_000)
  const visitors = signups.map((signup, index) => it.wait([signup], 1 + (index % 30)))
  await it.clock.run(500)
  expect(it.clock.most).toBe(1)
  await it.deliver()
  await it.clock.run(0)
  expect(visitors.filter(({ waitedMs }) => waitedMs === 500)).toHaveLength(10_000)
  await it.clock.run(second)
  expect(it.clock.sleeping).toBe(0)
})

function storedOf(answer: Appended): SignupStatus[] {
  if (!('results' in answer)) throw new Error('no key was given')
  return answer.results.filter((result) => result !== undefined)
}

test('a wait for several signups gives all its places back, and gives them back once', async () => {
  await using it = world({ max: 3, clientMax: 3 })
  const [one, three] = [await it.accept(1), await it.accept(3)]
  const leaving = new AbortController()
  it.wait(three, 1, leaving.signal)
  await it.clock.run(2 * second)
  leaving.abort()
  const later = [it.wait(three, 30), it.wait(one, 30)]
  await it.clock.run(second)
  expect(later.map(({ waitedMs }) => waitedMs === undefined)).toEqual([true, false])
})

test('a wait that begins when nobody waits any more is no longer than asked', async () => {
  await using it = world()
  const signups = await it.accept(1)
  it.wait(signups, 1)
  await it.clock.run(2 * second)
  const visitor = it.wait(signups, 1)
  await it.clock.run(2 * second)
  expect(visitor.waitedMs).toBeLessThanOrEqual(second)
})

test('nobody waits for a row of a signup beside the list, and it is told as what it is', async () => {
  await using it = world()
  const [accepted] = await it.accept(1)
  if (!accepted) throw new Error('It was accepted.')
  const beside = { ...accepted, position: 0, beside: 'pending' } as const
  const visitor = it.wait([accepted, beside], 30)
  await it.clock.run(0)
  expect(visitor.waitedMs).toBe(0)
  expect(it.waiting.stateOf(beside)).toBe('pending')
  expect(it.waiting.stateOf({ ...beside, beside: 'expired' })).toBe('expired')
  expect(it.waiting.stateOf(accepted)).toBe('accepted')
  it.health.delivery = { state: 'blocked', reason: 'full', error: 'Full', hint: '' }
  const patience = { seconds: 3, until: 0, left: staying() }
  expect(it.waiting.progressOf([beside], patience)).toEqual({
    areWritten: false,
    waitSeconds: undefined,
    blockedBy: undefined,
  })
  await it.deliver()
  expect(it.waiting.stateOf(accepted)).toBe('written')
})
