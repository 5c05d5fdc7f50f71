import { expect, test } from 'vitest'

import type { Database } from '../sql.ts'
import { Seats } from './seats.ts'

test('a count that began before the last seat was taken does not give it again', async () => {
  const { promise, resolve } = Promise.withResolvers<[{ rows: [{ taken: number }] }]>()
  const db = { query: () => promise } as unknown as Database
  const seats = new Seats({ db, id: 1, policy: { closing: { after: 3 } } })
  const looking = seats.look()
  seats.learn(3)
  resolve([{ rows: [{ taken: 2 }] }])
  await looking
  expect(seats.openness(0)).toBe('closed')
  await seats.look()
  expect(seats.openness(0)).toBe('open')
})
