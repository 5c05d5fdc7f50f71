import { expect, test } from 'vitest'
import type { Count } from '../journal/contracts/reader.ts'
import { day, hour } from '../platform/clock.ts'
import { beginsOf, periodNamed, periods, stepsOf, stepWords, sumOf } from './periods.ts'

const now = Date.UTC(2026, 2, 1, 13, 30)
const accepted = (at: number, count: number): Count => ({ what: 'accepted', name: '', at, count })

test.each(periods)(
  '$words end with the present hour or day, and so does the time before',
  (period) => {
    const begins = beginsOf(period, now)
    expect(begins).toHaveLength(2 * period.count)
    expect(begins.at(-1)).toBe(Date.UTC(2026, 2, 1, period.stepMs === hour ? 13 : 0))
    expect(begins[0]).toBe((begins.at(-1) ?? 0) - (2 * period.count - 1) * period.stepMs)
  },
)

test('an address without a period, or with an unknown one, asks for seven days', () => {
  for (const name of [null, '', '7d', '1000d', 'constructor']) {
    expect(periodNamed(name).words).toBe('7 days')
  }
  expect(periodNamed('24h').words).toBe('24 hours')
})

test('hours are summed by day in UTC, up to both edges, beside the day as long before', () => {
  const begins = beginsOf(periodNamed('7d'), now)
  const [first = 0] = begins
  const today = now - (now % day)
  const hours = [
    accepted(first - hour, 1000),
    ...[accepted(first, 1), accepted(first + 23 * hour, 2), accepted(first + 7 * day - hour, 4)],
    ...[accepted(first + 7 * day, 10), accepted(today, 20), accepted(today + 23 * hour, 30)],
    accepted(today + day, 1000),
  ]
  const steps = stepsOf(begins, hours)
  expect(steps.map((step) => step.now)).toEqual([10, 0, 0, 0, 0, 0, 50])
  expect(steps.map(({ before }) => before)).toEqual([3, 0, 0, 0, 0, 0, 4])
  expect(steps.at(-1)?.begin).toBe(today)
  expect(sumOf(steps, (step) => step.now)).toBe(60)
})

test('a step is called by its day, an hour also by its time, both in UTC', () => {
  expect(stepWords(Date.UTC(2026, 1, 28), false)).toBe('28 Feb')
  expect(stepWords(Date.UTC(2026, 1, 28, 14), true)).toBe('28 Feb, 14:00')
  expect(stepWords(Date.UTC(2026, 2, 1), true)).toBe('1 Mar, 00:00')
})
