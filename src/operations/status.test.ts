import { expect, test } from 'vitest'
import { minute } from '../platform/clock.ts'
import { quotaLeft } from './status.ts'

test('an account that has made more calls than a lowered quota allows has none left', async () => {
  const now = 1_000 * minute
  const account = { credentials: { email: 'robot' }, quota: { perMinute: 60, perDay: 100 } }
  const callsSince = async (email: string, since: number) => {
    expect(email).toBe('robot')
    return since === now - minute ? 59 : 101
  }
  expect(await quotaLeft(account as never, { callsSince }, now)).toEqual({
    perMinute: { limit: 60, left: 1 },
    perDay: { limit: 100, left: 0 },
  })
})
