import { expect, test } from 'vitest'

import { changed } from '../../harness/changed.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { createEvents, type Events } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog } from '../ops/log.ts'
import type { Failed, Refused, Retryable, Unknown } from '../spreadsheet/spreadsheet.ts'
import { Attempts } from './attempts.ts'
import { hour, minute, second } from '../platform/clock.ts'

const down: Retryable = { kind: 'retryable', message: 'down' }
const lost: Unknown = { kind: 'unknown', message: 'lost' }
const refused: Refused = { kind: 'refused', reason: 'other', message: 'no', hint: 'Mend it.' }
const done = { kind: 'done' } as const

/** Attempts that wait for as long as they may, with everything that they report. */
function world() {
  const clock = new ManualClock()
  const [stopping, giveUp] = [new AbortController(), new AbortController()]
  const reports: string[] = []
  const silent = createEvents(createLog('silent'), createHealth(), clock)
  const events: Events = changed(silent, {
    deliveryDelayed: (message, ms) => reports.push(`${message}, ${ms} ms`),
    deliveryBlocked: ({ message }) => reports.push(`blocked: ${message}`),
    deliveryResumed: () => reports.push('resumed'),
  })
  const options = { clock, random: () => 1, events }
  const attempts = new Attempts({ ...options, stopping: stopping.signal, giveUp: giveUp.signal })
  return { clock, stopping, giveUp, reports, attempts }
}

/** Makes a call that ends in these ways, one after the other. Returns when it was tried. */
async function persist(
  { attempts, clock }: Pick<ReturnType<typeof world>, 'attempts' | 'clock'>,
  ends: readonly (Failed | typeof done)[],
): Promise<number[]> {
  const start = clock.elapsed()
  const tries: number[] = []
  const result = attempts.persist(async () => {
    tries.push(clock.elapsed() - start)
    return ends[tries.length - 1] ?? done
  })
  let hasEnded = false
  void result.then(() => (hasEnded = true))
  await clock.runUntil(() => hasEnded)
  expect(await result).toEqual(done)
  return tries
}

test.each([
  { what: 'a success', ends: [done], tries: [0], reports: [] },
  {
    what: 'failures that may pass',
    ends: [down, lost, down],
    tries: [0, 1000, 3000, 7000],
    reports: ['down, 1000 ms', 'lost, 2000 ms', 'down, 4000 ms', 'resumed'],
  },
  {
    what: 'a failure that may be tried again at once',
    ends: [{ ...down, afterMs: 0 }],
    tries: [0, 0],
    reports: ['down, 0 ms', 'resumed'],
  },
  {
    what: 'a failure with a time to wait',
    ends: [{ ...lost, afterMs: 9000 }],
    tries: [0, 9000],
    reports: ['lost, 9000 ms', 'resumed'],
  },
  {
    what: 'refusals',
    ends: [refused, refused, refused],
    tries: [0, 5000, 15_000, 35_000],
    reports: ['blocked: no', 'blocked: no', 'blocked: no', 'resumed'],
  },
  {
    what: 'a refusal between other failures',
    ends: [down, down, refused, down],
    tries: [0, 1000, 3000, 8000, 9000],
    reports: ['down, 1000 ms', 'down, 2000 ms', 'blocked: no', 'down, 1000 ms', 'resumed'],
  },
])('after $what the next try comes in time, and operators hear of it', async (it) => {
  const given = world()
  expect(await persist(given, it.ends)).toEqual(it.tries)
  given.attempts.resume()
  expect(given.reports).toEqual(it.reports)
})

test('after an hour of refusals a try comes every five minutes, and the next refusal after a success begins anew', async () => {
  const given = world()
  const tries = await persist(
    given,
    Array.from({ length: 200 }, () => refused),
  )
  const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0))
  expect(pauses.at(-1)).toBe(5 * minute)
  for (const [index, pause] of pauses.entries()) {
    expect(pause === 5 * minute).toBe((tries[index] ?? 0) >= hour)
  }
  expect(await persist(given, [refused])).toEqual([0, 5 * second])
})

test('a stop ends the pause, and no other try follows', async () => {
  const { attempts, clock, stopping } = world()
  let tries = 0
  const result = attempts.persist(async (): Promise<Refused | typeof done> => {
    tries += 1
    return refused
  })
  await clock.run(second)
  stopping.abort()
  expect(await result).toBeUndefined()
  expect(await attempts.persist(async () => done)).toBeUndefined()
  expect(tries).toBe(1)
})

test('a try is given up after five minutes, or as soon as the writer gives up', async () => {
  const { attempts, clock, giveUp } = world()
  const signals: AbortSignal[] = []
  const begin = () => {
    void attempts.persist((signal) => {
      signals.push(signal)
      return new Promise<typeof done>(() => {})
    })
  }
  begin()
  await clock.run(5 * minute - 1)
  expect(signals[0]?.aborted).toBe(false)
  await clock.run(1)
  expect(signals[0]?.aborted).toBe(true)
  begin()
  giveUp.abort()
  expect(signals[1]?.aborted).toBe(true)
})

test('a try that has ended leaves no timer behind', async () => {
  const given = world()
  await persist(given, [])
  await expect(given.clock.runUntil(() => false)).rejects.toThrow('did not happen')
  expect(given.clock.elapsed()).toBe(0)
})
