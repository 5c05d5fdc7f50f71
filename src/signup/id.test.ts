import { expect, test } from 'vitest'
import { validate, version } from 'uuid'

import { signupIds, timeOfId } from './id.ts'

const start = Date.UTC(2026, 10, 21)

test('an id is a UUIDv7 of its moment', () => {
  const id = signupIds()(start)
  expect(validate(id)).toBe(true)
  expect(version(id)).toBe(7)
  expect(timeOfId(id)).toBe(start)
})

test('ids increase within a millisecond, when the counter is full, and when the clock is set back', () => {
  const next = signupIds()
  const ids = [
    ...Array.from({ length: 10_000 }, () => next(start)),
    ...Array.from({ length: 10 }, () => next(start - 60_000)),
    ...Array.from({ length: 10 }, (_, at) => next(start + at)),
  ]
  expect(ids).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true)
})

test('the first 4,096 ids of a millisecond carry it, and the next one carries the next millisecond', () => {
  const next = signupIds()
  const ids = Array.from({ length: 4_096 }, () => next(start))
  expect(new Set(ids.map(timeOfId))).toEqual(new Set([start]))
  expect(timeOfId(next(start))).toBe(start + 1)
})

test('two sources share only the timestamp in ids of one moment', () => {
  const [one, other] = [signupIds()(start), signupIds()(start)]
  expect(one.slice(0, 18)).toBe(other.slice(0, 18))
  expect(one.slice(19)).not.toBe(other.slice(19))
})
