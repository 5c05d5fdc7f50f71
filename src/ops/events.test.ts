import pino from 'pino'
import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import type { SignupId } from '../signup/signup.ts'
import { createEvents } from './events.ts'
import { createHealth } from './health.ts'

function world() {
  const lines: { readonly level: number; readonly msg: string }[] = []
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as (typeof lines)[number]) })
  const health = createHealth()
  const clock = new ManualClock()
  return { lines, health, clock, events: createEvents(log, health, clock) }
}

const problem = { reason: 'permission', message: 'not shared', hint: 'Share it.' } as const

test('delivery that waits for a person stays blocked while later tries fail, until it works again', () => {
  const { health, events } = world()
  events.deliveryDelayed('no answer', 1_000)
  expect(health.delivery).toEqual({ state: 'delayed', error: 'no answer' })
  events.deliveryBlocked(problem)
  const blocked = { state: 'blocked', reason: 'permission', error: 'not shared', hint: 'Share it.' }
  expect(health.delivery).toEqual(blocked)
  events.deliveryDelayed('no answer', 1_000)
  expect(health.delivery).toEqual(blocked)
  events.deliveryResumed()
  expect(health.delivery).toEqual({ state: 'ok' })
})

test('blocked delivery is logged once for each reason', () => {
  const { lines, events } = world()
  events.deliveryBlocked(problem)
  events.deliveryBlocked(problem)
  events.deliveryBlocked({ ...problem, hint: 'Share it again.' })
  expect(lines.map(({ level }) => level)).toEqual([50, 50])
})

test('a minute after many suspect signups, one line tells how many the log has left out', async () => {
  const { lines, events, clock } = world()
  const id = '019a9b1e-0000-7000-8000-000000000000' as SignupId
  for (let at = 0; at < 70; at++) events.signupSuspected(id, ['links'])
  await clock.run(60_000)
  events.signupSuspected(id, ['links'])
  const [more, next] = lines.slice(60)
  expect(more).toMatchObject({ msg: 'more signups were suspected and logged at debug only' })
  expect(next).toMatchObject({ signup: id, signals: ['links'], msg: 'a signup looks like spam' })
})
