import { expect, test } from 'vitest'
import { hour, minute } from '../platform/clock.ts'
import { HourlyCount } from './hourly-count.ts'

test('a key has many when more than so many of it came within an hour', () => {
  const count = new HourlyCount(3, 16)
  const many = [0, 1, 2, 3, 4].map((at) => count.add('a', undefined, at * minute))
  expect(many).toEqual([false, false, false, true, true])
  expect(count.add('b', undefined, 5 * minute)).toBe(false)
})

test('what came an hour ago or longer does not count any more', () => {
  const count = new HourlyCount(2, 16)
  count.add('a', undefined, 0)
  count.add('a', undefined, 59 * minute)
  expect(count.add('a', undefined, hour)).toBe(false)
  expect(count.add('a', undefined, hour + 58 * minute)).toBe(true)
  expect(count.add('a', undefined, 5 * hour)).toBe(false)
})

test('a member that comes again counts once, at its last time', () => {
  const count = new HourlyCount(2, 16)
  for (let at = 0; at < 9; at++) expect(count.add('a', 'one', at * minute)).toBe(false)
  expect(count.add('a', 'two', 10 * minute)).toBe(false)
  expect(count.add('a', 'three', 11 * minute)).toBe(true)
  expect(count.add('a', 'one', 12 * minute)).toBe(true)
  expect(count.add('a', 'three', hour + 11 * minute)).toBe(false)
})

test('a key that comes often is kept while thousands of others come', () => {
  const count = new HourlyCount(2, 1024)
  const many = Array.from({ length: 20_000 }, (_, at) => {
    count.add(`key ${at}`, undefined, at)
    return at % 4 === 0 && count.add('often', undefined, at)
  })
  expect(many.filter(Boolean)).toHaveLength(4_998)
})

test('a key that did not come for long makes room for others, and begins anew', () => {
  const count = new HourlyCount(1, 4)
  count.add('a', undefined, 0)
  for (let at = 1; at < 10; at++) count.add(`key ${at}`, undefined, at * minute)
  expect(count.add('a', undefined, 10 * minute)).toBe(false)
})

test('the newest times of a key stay when an older one makes room', () => {
  const minute = 60_000
  const count = new HourlyCount(2, 4)
  for (const at of [0, 1, 2, 50, 51]) count.add('k', undefined, at * minute)
  expect(count.add('k', undefined, 62.5 * minute)).toBe(true)
})
