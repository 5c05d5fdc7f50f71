import { expect, test } from 'vitest'
import { createHealth } from '../ops/health.ts'
import { advance, seenIn } from './outage.ts'

const times = { toldAfterMs: 300, calmMs: 60 }

test('signups that wait for exactly the time of a notice are a stall', () => {
  const health = createHealth()
  const kinds = [699, 700, 701].map((now) => seenIn(health, 400, now, times).kind)
  expect(kinds).toEqual(['well', 'delivery.stalled', 'delivery.stalled'])
})

test('an outage is told after exactly its time, and is over after exactly the calm', () => {
  const blocked = { kind: 'delivery.blocked', reason: 'any', since: 400 } as const
  const told = [699, 700].map((now) => advance(undefined, blocked, now, 0, times).news?.kind)
  expect(told).toEqual([undefined, 'delivery.blocked'])
  const outage = { since: 400, isTold: true }
  const over = [59, 60].map(
    (calm) => advance(outage, { kind: 'well' }, 900, calm, times).news?.kind,
  )
  expect(over).toEqual([undefined, 'resumed'])
})
