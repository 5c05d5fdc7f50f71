import { expect, test } from 'vitest'
import { medianInterval } from './interval.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

// The ranks are those of the tables for the sign test.
test.each([
  { count: 5, low: 1, high: 5 },
  { count: 6, low: 1, high: 6 },
  { count: 9, low: 2, high: 8 },
  { count: 18, low: 5, high: 14 },
  { count: 25, low: 8, high: 18 },
])('the interval of $count values runs from $low to $high', ({ count, low, high }) => {
  expect(medianInterval(upTo(count).toReversed())).toEqual({ low, high })
})
