import { expect, onTestFinished, test, vi } from 'vitest'
import { readMoment } from './moment.ts'

const now = Date.UTC(2026, 10, 22, 12)
const iso = (at: unknown) => (typeof at === 'number' ? new Date(at).toISOString() : at)

test.each([
  ['2026-11-20T10:00:00.123Z', '2026-11-20T10:00:00.123Z'],
  ['2026-11-20T10:00:00+01:00', '2026-11-20T09:00:00.000Z'],
  ['2026-11-20 10:00:00 -0530', '2026-11-20T15:30:00.000Z'],
  ['2026-11-20 10:00:00 UTC', '2026-11-20T10:00:00.000Z'],
  ['2026-11-20 9:05', '2026-11-20T09:05:00.000Z'],
  [' 2026-11-20 ', '2026-11-20T00:00:00.000Z'],
  ['20.11.2026 10:00:07', '2026-11-20T10:00:07.000Z'],
  ['1.2.2026', '2026-02-01T00:00:00.000Z'],
  ['1970-01-01', '1970-01-01T00:00:00.000Z'],
  ['2026-11-23T12:00:00', '2026-11-23T12:00:00.000Z'],
])('%j is %s, wherever the machine is', (text, moment) => {
  vi.stubEnv('TZ', 'America/New_York')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(iso(readMoment(text, now))).toBe(moment)
})

test.each([
  ['03/04/2026', 'day-first', '2026-04-03T00:00:00.000Z'],
  ['03/04/2026', 'month-first', '2026-03-04T00:00:00.000Z'],
  ['3/4/2026 9:05 PM', 'month-first', '2026-03-04T21:05:00.000Z'],
  ['3/4/2026 12:05:06am', 'month-first', '2026-03-04T00:05:06.000Z'],
] as const)('%j with %s is %s', (text, order, moment) => {
  expect(iso(readMoment(text, now, order))).toBe(moment)
})

test.each([
  ['03/04/2026', /--dates day-first or --dates month-first/],
  ['2026-02-30', /must be a date such as/],
  ['2026-11-20 24:00', /must be a date such as/],
  ['2026-11-20 10:00:60', /must be a date such as/],
  ['2026-11-20 13:00 PM', /must be a date such as/],
  ['yesterday', /must be a date such as/],
  ['1763632800', /must be a date such as/],
  ['2026-11-20 10:00 Berlin', /must be a date such as/],
  ['1969-12-31', /before 1970/],
  ['2026-11-24', /in the future/],
  ['2026-11-23T12:00:00.001', /in the future/],
  ['2026', /must be a date such as/],
])('%j is refused', (text, problem) => {
  expect(readMoment(text, now)).toEqual({ problem: expect.stringMatching(problem) })
})
