import { expect, test } from 'vitest'
import { HeldByClient } from './held-by-client.ts'

test('each client holds what it took and has not given back', () => {
  const held = new HeldByClient()
  held.add('a', 3)
  held.add('b', 2)
  held.add('a', -1)
  expect([held.of('a'), held.of('b'), held.of('c')]).toEqual([2, 2, 0])
})

test('a client that has given everything back is forgotten', () => {
  const held = new HeldByClient()
  held.add('a', 3)
  held.add('b', 1)
  held.add('a', -3)
  expect(held.clients).toBe(1)
})
