import pino from 'pino'
import { expect, test } from 'vitest'

import { textLine } from './text-line.ts'

function lineOf(work: (log: pino.Logger) => void, hasColours = false): string {
  let json = ''
  const timestamp = pino.stdTimeFunctions.isoTime
  const write = (line: string) => (json += line)
  work(pino({ base: null, timestamp, level: 'trace' }, { write }))
  return textLine(json, hasColours)
}

test('a line has the time of day, the level, the message and the fields', () => {
  const line = lineOf((log) =>
    log.warn({ tab: 'tab 2', rows: 3, hint: 'Wait' }, 'delivery delayed'),
  )
  expect(line).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}delivery delayed {2}tab="tab 2" {2}rows=3 {2}hint=Wait\n$/,
  )
})

test('an error shows its stack and its cause below the line', () => {
  const error = new Error('no room', { cause: new Error('disk full') })
  const [first, ...below] = lineOf((log) => log.error({ err: error }, 'failed')).split('\n')
  expect(first).toMatch(/ERROR failed$/)
  expect(below.join('\n')).toMatch(/^ {4}Error: no room\n {4} +at .*caused by: Error: disk full/s)
})

test('no control character of a value reaches the terminal, and colours only when there are any', () => {
  const evil = 'a\u001b[2J\u009b1m\u202eb\u007f\r\nERROR fake'
  const work = (log: pino.Logger) =>
    log.error({ [evil]: evil, deep: { evil }, err: new Error(evil) }, evil)
  expect(lineOf(work).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(lineOf(work, true).split('\u001b[2J')).toHaveLength(1)
  expect(lineOf(work, true)).toContain('\u001b[31mERROR')
})
