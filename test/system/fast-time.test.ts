import { expect, test } from 'vitest'

import { liveFast } from './world/fast-life.ts'

const hour = 60

test('in six hours every signup becomes one row, and a new access token is taken each hour', async () => {
  const life = await liveFast({ speed: 200, minutes: 6 * hour, signupEvery: 5 })
  expect(life.rows).toEqual(life.accepted)
  expect(life.overQuota).toBe(0)
  expect(life.tokens).toBeGreaterThanOrEqual(6)
})

test('in thirteen short lives with a signup a minute every signup becomes one row', async () => {
  const life = await liveFast({ speed: 120, minutes: 130, signupEvery: 1, killEvery: 10 })
  expect(life.rows).toEqual(life.accepted)
  expect(life.overQuota).toBe(0)
})
