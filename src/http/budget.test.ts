import { expect, test } from 'vitest'
import { Budget } from './budget.ts'

test('one client gets its part, and all clients together get all', () => {
  const budget = new Budget({ max: 3, clientMax: 2 })
  expect([budget.take('a'), budget.take('a'), budget.take('a')]).toEqual([true, true, false])
  expect([budget.take('b'), budget.take('b')]).toEqual([true, false])
  expect(budget.taken).toBe(3)
})

test('an amount is taken as a whole, or not at all', () => {
  const budget = new Budget({ max: 5, clientMax: 3 })
  expect(budget.take('a', 4)).toBe(false)
  expect(budget.take('a', 3)).toBe(true)
  expect(budget.take('b', 3)).toBe(false)
  expect(budget.take('b', 2)).toBe(true)
  expect(budget.taken).toBe(5)
})

test('what is given back can be taken again, by the same client and by others', () => {
  const budget = new Budget({ max: 4, clientMax: 3 })
  budget.take('a', 3)
  budget.free('a')
  expect(budget.taken).toBe(2)
  expect([budget.take('a', 2), budget.take('b', 2)]).toEqual([false, true])
  budget.free('b', 2)
  expect([budget.take('a'), budget.take('a')]).toEqual([true, false])
  budget.free('a', 3)
  expect(budget.taken).toBe(0)
  expect(budget.take('a', 3)).toBe(true)
})

test('a client that is not counted is limited only together with all others', () => {
  const budget = new Budget({ max: 3, clientMax: 1 })
  expect([budget.take(undefined, 2), budget.take(undefined, 2)]).toEqual([true, false])
  expect(budget.take('a')).toBe(true)
  budget.free(undefined, 2)
  expect(budget.taken).toBe(1)
  expect([budget.take('a'), budget.take('b')]).toEqual([false, true])
})

test('a client that may hold more than others still shares the limit of all', () => {
  const budget = new Budget({ max: 10, clientMax: 2 })
  expect([budget.take('a', 8, 9), budget.take('a', 2, 9), budget.take('a', 1, 9)]).toEqual([
    true,
    false,
    true,
  ])
  expect([budget.take('b', 2), budget.take('b', 1)]).toEqual([false, true])
})

test('a client that has given everything back is forgotten', () => {
  const budget = new Budget({ max: 10, clientMax: 5 })
  budget.take('a', 3)
  budget.take('b')
  budget.free('a', 3)
  expect(budget.clients).toBe(1)
})
