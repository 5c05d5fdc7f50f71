import { expect, test } from 'vitest'

import { ManualClock } from '../../../harness/manual-clock.ts'
import { clockFinding, watchDate } from './clock-check.ts'

const minute = 60_000

test.each([
  [undefined, 'skipped', 'not checked: the token endpoint did not tell the time'],
  [0, 'ok', "agrees with Google's within a minute"],
  [minute, 'ok', "agrees with Google's within a minute"],
  [-minute, 'ok', "agrees with Google's within a minute"],
  [minute + 1, 'fault', "is 1 minute ahead of Google's: the times of signups are wrong"],
  [-10 * minute, 'fault', "is 10 minutes behind Google's: the times"],
  [1e6 * minute, 'fault', "is 1,000,000 minutes ahead of Google's"],
] as const)('a clock that is %s ms ahead', (offMs, state, message) => {
  expect(clockFinding(offMs)).toEqual({
    ...{ check: 'clock', state, message: expect.stringContaining(message) },
    ...(state === 'fault' && { hint: expect.stringContaining('synchronisation of time') }),
  })
})

const url = 'https://example.com/token'
const noon = Date.UTC(2026, 10, 20, 12)

/** How far the clock is found to be ahead after an answer that took four seconds. */
async function offAfter(asked: string, date: string | null): Promise<number | undefined> {
  const clock = new ManualClock(noon)
  const watched = watchDate(
    async () => {
      clock.jump(4000)
      return { status: 200, headers: { get: () => date }, text: '' }
    },
    url,
    clock,
  )
  expect(watched.offMs()).toBeUndefined()
  await watched.http({
    ...{ method: 'POST', url: asked, headers: {}, timeoutMs: 1, answerBytesMax: 1 },
    signal: new AbortController().signal,
  })
  return watched.offMs()
}

test('the middle between question and answer is compared with the Date of the answer', async () => {
  expect(await offAfter(url, new Date(noon).toUTCString())).toBe(2000)
  expect(await offAfter(url, new Date(noon + minute).toUTCString())).toBe(2000 - minute)
})

test('answers without a date, or from elsewhere, tell nothing', async () => {
  expect(await offAfter(url, null)).toBeUndefined()
  expect(await offAfter(url, 'soon')).toBeUndefined()
  expect(await offAfter(`${url}/other`, new Date(noon).toUTCString())).toBeUndefined()
})
