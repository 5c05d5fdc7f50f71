import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { pauseMs, probePauseMs, steadyTime, triesMax } from './ladder.ts'

test('pauses grow from 5 seconds to 2 hours, and up to half of each is left to chance', () => {
  const pauses = [1, 2, 3, 10, 12, 100, 5000].map((tries) => pauseMs(tries, () => 1) / 1000)
  expect(pauses).toEqual([5, 10, 20, 2560, 7200, 7200, 7200])
  expect(pauseMs(1, () => 0)).toBe(2500)
  // The journal keeps whole milliseconds.
  expect(pauseMs(1, () => 0.123456789)).toBe(2809)
})

test('all tries of a message together take about a day', () => {
  const tries = Array.from({ length: triesMax - 1 }, (_, at) => at + 1)
  const ms = tries.reduce((sum, at) => sum + pauseMs(at, () => 0.5), 0)
  expect(Math.round(ms / 3_600_000)).toBe(25)
})

test('a server that takes nothing is probed after 5 seconds at first, and every 5 minutes at last', () => {
  const pauses = [1, 2, 6, 7, 100].map((failures) => probePauseMs(failures, () => 1) / 1000)
  expect(pauses).toEqual([5, 10, 160, 300, 300])
})

test('time goes on when the wall clock is set back, and follows it when it is set forward', async () => {
  const clock = new ManualClock(1_000_000)
  const time = steadyTime(clock, clock)
  expect(time()).toBe(1_000_000)
  clock.jump(-500_000)
  await clock.run(1_000)
  expect(time()).toBe(1_001_000)
  clock.jump(2_000_000)
  expect(time()).toBe(2_501_000)
})
