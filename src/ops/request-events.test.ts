import pino from 'pino'
import { expect, test } from 'vitest'

import { requestEvents } from './request-events.ts'

function linesAt(level: string, ...methods: readonly (string | undefined)[]) {
  const lines: unknown[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  const log = pino({ level, base: null, timestamp: false }, { write })
  const { requestAnswered } = requestEvents(log, undefined)
  for (const method of methods) {
    requestAnswered?.({ route: '/a/:id', method, status: 200, ms: 1.234, requestId: 'id' })
  }
  return { lines, requestAnswered }
}

test('the log tells each request at debug, and no method that a client has made up', () => {
  const line = { level: 20, requestId: 'id', route: '/a/:id', status: 200, ms: 1.2 }
  const msg = 'a request was answered'
  expect(linesAt('debug', 'HEAD', 'ADA', undefined).lines).toEqual(
    ['HEAD', 'other', 'other'].map((method) => ({ ...line, method, msg })),
  )
})

test('without debug and metrics nobody asks for the requests, so they are not timed', () => {
  expect(linesAt('info').requestAnswered).toBeUndefined()
})
