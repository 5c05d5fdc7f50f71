import pino from 'pino'
import { expect, test } from 'vitest'

import type { Verdict } from '../challenge/challenge.ts'
import { systemClock } from '../platform/clock.ts'
import { createEvents } from './events.ts'
import { createHealth } from './health.ts'

/** The levels and messages that these verdicts lead to, and the health after them. */
function tell(...verdicts: Verdict[]) {
  const lines: string[] = []
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line) as { level: number; msg: string }
    lines.push(`${pino.levels.labels[level] ?? ''}: ${msg}`)
  }
  const health = createHealth()
  const events = createEvents(pino({ level: 'info' }, { write }), health, systemClock)
  events.challengeStarted('turnstile', false)
  for (const verdict of verdicts) events.challengeAnswered(verdict, 'a-request')
  return { lines: lines.slice(1), health: health.challenge }
}

const down = (message: string): Verdict => {
  return { kind: 'unavailable', message, isPassing: true, retryAfterSeconds: 5 }
}
const wrong = {
  kind: 'misconfigured',
  reason: 'refused',
  message: 'wrong secret',
  hint: 'copy it',
  retryAfterSeconds: 30,
} as const
const passed = { kind: 'passed' } as const

test('the log tells an outage once, even if its errors differ, and tells its end', () => {
  expect(tell(down('a'), down('b'), down('a'), passed, passed)).toEqual({
    lines: [
      'warn: challenge tokens cannot be verified',
      'info: challenge tokens can be verified again',
    ],
    health: { state: 'ok' },
  })
})

test('the log tells wrong keys once, with a hint, and again when the error changes', () => {
  const other = { ...wrong, message: 'bad request' }
  expect(tell(wrong, wrong, other)).toEqual({
    lines: ['error: nobody can pass the challenge', 'error: nobody can pass the challenge'],
    health: { state: 'misconfigured', reason: 'refused' },
  })
})

test('the log tells each refusal with a hint once, and no refusal without a hint', () => {
  const refused = (reason: string, hint?: string): Verdict =>
    hint === undefined ? { kind: 'rejected', reason } : { kind: 'rejected', reason, hint }
  const many = Array.from({ length: 100 }, (_, index) => refused(`host ${index}`, 'look'))
  const line = 'warn: a challenge token was refused'
  expect(tell(refused('spent'), refused('a', 'look'), refused('a', 'look')).lines).toEqual([line])
  expect(tell(...many).lines).toHaveLength(20)
})
