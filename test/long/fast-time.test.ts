import { test } from 'vitest'

import { liveFast } from '../system/fast-life.ts'

const hour = 60
const day = 24 * hour

test('a week with one signup an hour loses nothing and writes nothing twice', async () => {
  await liveFast({ speed: 1000, minutes: 7 * day, signupEvery: hour })
})

test('a day with a signup a minute and a kill now and then loses nothing and writes nothing twice', async () => {
  await liveFast({ speed: 300, minutes: day, signupEvery: 1, killEvery: 47 })
})
