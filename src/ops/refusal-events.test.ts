import pino from 'pino'
import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { createHealth } from './health.ts'
import type { LogLevel } from './log.ts'
import { refusalEvents, ToldLines } from './refusal-events.ts'

interface Line {
  readonly level: number
  readonly requestId?: string
  readonly leftOut?: number
  readonly origin?: string
}

function world(level: LogLevel) {
  const lines: Line[] = []
  const write = (line: string) => lines.push(JSON.parse(line) as Line)
  const clock = new ManualClock()
  const health = createHealth()
  return {
    lines,
    clock,
    health,
    events: refusalEvents(pino({ level }, { write }), health, new ToldLines(clock)),
  }
}

test('the log tells 60 refusals a minute at info, and then how many it left out', async () => {
  const { lines, clock, events } = world('info')
  for (const second of [0, 59]) {
    await clock.run(second * 1000)
    for (let i = 0; i < 50; i++) events.requestRefused({ kind: 'tooMany', status: 429 }, 'id')
  }
  expect(lines).toHaveLength(60)
  await clock.run(1000)
  events.requestRefused({ kind: 'origin', status: 403 }, 'next')
  expect(lines.slice(60)).toMatchObject([{ leftOut: 40 }, { requestId: 'next', kind: 'origin' }])
  for (let i = 0; i < 60; i++) events.requestRefused({ kind: 'tooMany', status: 429 }, 'id')
  await clock.run(60_000)
  events.requestRefused({ kind: 'tooMany', status: 429 }, 'id')
  expect(lines.slice(60 + 2 + 59)).toMatchObject([{ leftOut: 1 }, { requestId: 'id' }])
})

test('the log tells every refused request at debug, with its id, status and kind', () => {
  const { lines, events } = world('debug')
  for (let i = 0; i < 70; i++) events.requestRefused({ kind: 'challenge', status: 403 }, `id-${i}`)
  events.requestRefused({ kind: 'fields', status: 422 }, 'id-70')
  expect(lines.map(({ requestId }) => requestId)).toEqual(lines.map((_, i) => `id-${i}`))
  expect(lines.map(({ level }) => level)).toEqual(lines.map((_, i) => (i < 60 ? 30 : 20)))
  expect(lines[70]).toMatchObject({ status: 422, kind: 'fields' })
})

test.each([
  ['refused origins', 'originRefused', 50],
  ['origins of redirects that are not followed', 'redirectNotFollowed', 0],
] as const)('the log tells the first 20 %s once each', (_, event, refused) => {
  const { lines, health, events } = world('info')
  for (let i = 0; i < 50; i++) events[event](`https://${i % 25}.example`, 'id')
  expect(lines.map(({ origin }) => origin)).toEqual(
    Array.from({ length: 20 }, (_, i) => `https://${i}.example`),
  )
  expect(health.refusedByOrigin).toBe(refused)
})

test('the log tells the first unknown API key without showing it, and each is counted', () => {
  const { lines, health, events } = world('info')
  for (let i = 0; i < 100; i++) events.apiKeyRefused()
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ level: 40, msg: expect.stringContaining('API key') })
  expect(health.refusedApiKeys).toBe(100)
})
