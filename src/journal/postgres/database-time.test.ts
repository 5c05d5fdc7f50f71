import { expect, test } from 'vitest'

import { ManualClock } from '../../../harness/manual-clock.ts'
import { JournalUnavailable } from '../contracts/errors.ts'
import { DatabaseTime } from './database-time.ts'

const minute = 60_000
const noon = Date.UTC(2026, 10, 20, 12)

/** A database whose clock is `aheadMs` ahead of the elapsed time, and whose answers take `tookMs`. */
class Database {
  aheadMs = noon
  tookMs = 0
  fails = false
  asked = 0
  readonly clock: ManualClock

  constructor(clock: ManualClock) {
    this.clock = clock
  }

  async query() {
    this.asked += 1
    if (this.fails) throw new JournalUnavailable('out of order')
    await this.clock.sleep(this.tookMs / 2)
    const now = this.clock.elapsed() + this.aheadMs
    await this.clock.sleep(this.tookMs / 2)
    return [{ rows: [{ now }], changes: 0 }] as never
  }
}

async function opened() {
  const clock = new ManualClock(0)
  const database = new Database(clock)
  const time = await new Promise<DatabaseTime>((resolve) => {
    void DatabaseTime.open(database, clock).then(resolve)
    void clock.run(0)
  })
  return { clock, database, time }
}

test('the time is that of the database, and runs by the elapsed clock', async () => {
  const { clock, database, time } = await opened()
  await clock.run(1234)
  clock.jump(99 * minute)
  expect(time.now()).toBe(noon + 1234)
  expect(time.elapsed()).toBe(1234)
  expect(database.asked).toBe(1)
})

test('the time is a whole number, as the database takes no parts of a millisecond', async () => {
  const { clock, time } = await opened()
  await clock.run(0.75)
  expect(time.now()).toBe(noon)
})

test('after a minute, the next look asks the database once more', async () => {
  const { clock, database, time } = await opened()
  database.aheadMs += 50
  await clock.run(minute + 1)
  expect([time.now(), time.now()], 'before the answer').toEqual(Array(2).fill(noon + minute + 1))
  await clock.run(0)
  expect(time.now()).toBe(noon + minute + 1 + 50)
  expect(database.asked).toBe(2)
})

test('an answer that took long counts only when the last good one is old', async () => {
  const { clock, database, time } = await opened()
  database.aheadMs += 50
  database.tookMs = 1000
  await clock.run(2 * minute)
  time.now()
  await clock.run(minute)
  expect(time.now() - noon - clock.elapsed()).toBe(0)
  await clock.run(10 * minute)
  time.now()
  await clock.run(minute)
  expect(time.now() - noon - clock.elapsed()).toBe(50)
})

test('while the database does not answer, the time runs on', async () => {
  const { clock, database, time } = await opened()
  database.fails = true
  for (let asked = 2; asked < 5; asked++) {
    await clock.run(2 * minute)
    expect(time.now()).toBe(noon + clock.elapsed())
    await clock.run(0)
    expect(database.asked).toBe(asked)
  }
})

test('a slow first answer is asked for again, at most five times', async () => {
  const clock = new ManualClock(0)
  const database = new Database(clock)
  database.tookMs = 3000
  const opening = DatabaseTime.open(database, clock)
  await clock.run(5000)
  database.tookMs = 0
  await clock.run(1000)
  await opening
  expect(database.asked).toBe(3)
  database.tookMs = 3000
  const slow = DatabaseTime.open(database, clock)
  await clock.run(60_000)
  await slow
  expect(database.asked).toBe(8)
})
