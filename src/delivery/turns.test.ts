import { expect, test } from 'vitest'
import { ManualClock } from '../../harness/manual-clock.ts'
import { Turns } from './turns.ts'

const minute = 60_000
const { signal } = new AbortController()

/** The turns of two sites, and whose they were. `reserve` answers as told. */
function turnsOf(clock: ManualClock, reserve: () => Promise<number>) {
  const turns = new Turns(reserve, clock)
  const given: string[] = []
  const join = (name: string) => {
    const next = turns.join()
    return async (stop = signal) => {
      const askedAt = await next(stop)
      given.push(name)
      return askedAt
    }
  }
  return { first: join('first'), second: join('second'), given }
}

test('when nobody waits for a call any more, nothing sleeps on', async () => {
  const clock = new ManualClock()
  const { first, second } = turnsOf(clock, () => Promise.resolve(minute))
  const stop = new AbortController()
  const waiting = Promise.allSettled([first(stop.signal), second(stop.signal)])
  await clock.run(1)
  expect(clock.sleeping).toBe(1)
  stop.abort(new Error('stopping'))
  expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await clock.run(0)
  expect(clock.sleeping).toBe(0)
})

test('of those that wait, the one whose last call is the oldest gets the next', async () => {
  const clock = new ManualClock()
  const { first, second, given } = turnsOf(clock, () => Promise.resolve(0))
  await first()
  await second()
  await first()
  await Promise.all([first(), first(), second(), second()])
  expect(given.slice(3)).toEqual(['second', 'first', 'second', 'first'])
})

test('a ledger that fails ends the wait of all, and the next call asks it again', async () => {
  let asked = 0
  const { first, second } = turnsOf(new ManualClock(), async () => {
    asked += 1
    if (asked === 1) throw new Error('disk full')
    return 0
  })
  const [one, other] = await Promise.allSettled([first(), second()])
  expect([one.status, other.status]).toEqual(['rejected', 'rejected'])
  expect(await second()).toBe(0)
})
