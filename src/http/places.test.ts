import { expect, test } from 'vitest'
import { Places } from './places.ts'

test('one address gets its part of the places, and all addresses together get all', () => {
  const places = new Places({ max: 3, addressMax: 2 })
  expect([places.take('a'), places.take('a'), places.take('a')]).toEqual([true, true, false])
  expect([places.take('b'), places.take('b')]).toEqual([true, false])
  expect(places.taken).toBe(3)
})

test('several places are taken all at once, or none of them', () => {
  const places = new Places({ max: 5, addressMax: 3 })
  expect(places.take('a', 4)).toBe(false)
  expect(places.take('a', 3)).toBe(true)
  expect(places.take('b', 3)).toBe(false)
  expect(places.take('b', 2)).toBe(true)
  expect(places.taken).toBe(5)
})

test('places that are given back can be taken again, by the same address and by others', () => {
  const places = new Places({ max: 4, addressMax: 3 })
  places.take('a', 3)
  places.free('a')
  expect(places.taken).toBe(2)
  expect([places.take('a', 2), places.take('b', 2)]).toEqual([false, true])
  places.free('b', 2)
  expect([places.take('a'), places.take('a')]).toEqual([true, false])
  places.free('a', 3)
  expect(places.taken).toBe(0)
  expect(places.take('a', 3)).toBe(true)
})

test('a client without an address is limited only together with all others', () => {
  const places = new Places({ max: 3, addressMax: 1 })
  expect([places.take(undefined, 2), places.take(undefined, 2)]).toEqual([true, false])
  expect(places.take('a')).toBe(true)
  places.free(undefined, 2)
  expect(places.taken).toBe(1)
  expect([places.take('a'), places.take('b')]).toEqual([false, true])
})
