import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import type { CallLedger } from '../journal/call-ledger.ts'
import { CallTurns } from './call-turns.ts'

const minute = 60_000
const quota = { perMinute: 50, perDay: 10_000 }

/** The turns of two sites. The ledger answers as told. */
function turnsOf(clock: ManualClock, reserve: CallLedger['reserve']) {
  const turns = new CallTurns({ ledger: { reserve }, quota, clock, sites: 2 })
  return [turns.join(), turns.join()] as const
}

test('when nobody waits for a call any more, nothing sleeps on', async () => {
  const clock = new ManualClock()
  const [first, second] = turnsOf(clock, () => Promise.resolve(minute))
  const stop = new AbortController()
  const waiting = Promise.allSettled([first(stop.signal), second(stop.signal)])
  await clock.run(1)
  expect(clock.sleeping).toBe(1)
  stop.abort(new Error('stopping'))
  expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await clock.run(0)
  expect(clock.sleeping).toBe(0)
})

test('a ledger that fails ends the wait of all, and the next call asks it again', async () => {
  const clock = new ManualClock()
  let asked = 0
  const [first, second] = turnsOf(clock, async () => {
    asked += 1
    if (asked === 1) throw new Error('disk full')
    return 0
  })
  const { signal } = new AbortController()
  const [one, other] = await Promise.allSettled([first(signal), second(signal)])
  expect([one.status, other.status]).toEqual(['rejected', 'rejected'])
  expect(await second(signal)).toBe(0)
})
