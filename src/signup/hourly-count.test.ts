import { expect, test } from 'vitest'
import { hour, minute } from '../platform/clock.ts'
import { HourlyCount } from './hourly-count.ts'

test('a key has many when more than so many of it came within an hour', () => {
  const count = new HourlyCount(3, 10)
  const many = [0, 1, 2, 3, 4].map((at) => count.add('a', undefined, at * minute))
  expect(many).toEqual([false, false, false, true, true])
  expect(count.add('b', undefined, 5 * minute)).toBe(false)
})

test('what came an hour ago or longer does not count any more', () => {
  const count = new HourlyCount(2, 10)
  count.add('a', undefined, 0)
  count.add('a', undefined, 59 * minute)
  expect(count.add('a', undefined, hour)).toBe(false)
  expect(count.add('a', undefined, hour + 58 * minute)).toBe(true)
  expect(count.add('a', undefined, 5 * hour)).toBe(false)
})

test('a member that comes again counts once, at its last time', () => {
  const count = new HourlyCount(2, 10)
  for (let at = 0; at < 9; at++) expect(count.add('a', 'one', at * minute)).toBe(false)
  expect(count.add('a', 'two', 10 * minute)).toBe(false)
  expect(count.add('a', 'three', 11 * minute)).toBe(true)
  expect(count.add('a', 'one', 12 * minute)).toBe(true)
  expect(count.add('a', 'three', hour + 11 * minute)).toBe(false)
})

test('it keeps a bounded number of keys, and those that came last', () => {
  const count = new HourlyCount(1, 10)
  count.add('first', undefined, 0)
  for (let at = 0; at < 1000; at++) {
    count.add(`key ${at}`, undefined, at)
    expect(count.size).toBeLessThanOrEqual(10)
    expect(count.add('often', undefined, at)).toBe(at > 0)
  }
  expect(count.add('first', undefined, 1000)).toBe(false)
})

test('a key is not kept for more than two hours after it came last', () => {
  const count = new HourlyCount(1, 10)
  for (const key of ['a', 'b', 'c']) count.add(key, undefined, 0)
  count.add('later', undefined, hour)
  expect(count.size).toBe(4)
  count.add('later', undefined, 2 * hour)
  expect(count.size).toBe(1)
})
