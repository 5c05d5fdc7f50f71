import { expect, test } from 'vitest'

import { liveFast } from '../system/world/fast-life.ts'

const hour = 60
const day = 24 * hour

test('in a week with one signup an hour every signup becomes one row', async () => {
  const life = await liveFast({ speed: 1000, minutes: 7 * day, signupEvery: hour })
  expect(life.rows).toEqual(life.accepted)
  expect(life.overQuota).toBe(0)
})

test('in a day with a signup a minute and a kill now and then every signup becomes one row', async () => {
  const life = await liveFast({ speed: 300, minutes: day, signupEvery: 1, killEvery: 47 })
  expect(life.rows).toEqual(life.accepted)
  expect(life.overQuota).toBe(0)
})
