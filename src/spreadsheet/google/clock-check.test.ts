import { expect, test } from 'vitest'

import { ManualClock } from '../../../harness/manual-clock.ts'
import type { OutgoingRequest } from '../../platform/http-client.ts'
import { clockFinding, watchDate } from './clock-check.ts'

const minute = 60_000

test.each([
  [undefined, 'skipped', 'not checked: Google did not tell the time'],
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

const apiUrl = 'https://sheets.example.com'
const noon = Date.UTC(2026, 10, 20, 12)
const atNoon = new Date(noon).toUTCString()

/** How far the clock is found to be ahead after answers with these dates, each of which took four seconds. */
async function offAfter(
  { method = 'POST', url = 'https://example.com/token' }: Partial<OutgoingRequest>,
  ...dates: readonly (string | null)[]
): Promise<number | undefined> {
  const clock = new ManualClock(noon)
  const left = [...dates]
  const watched = watchDate(
    async () => {
      clock.jump(4000)
      return { status: 200, headers: { get: () => left.shift() ?? null }, text: '' }
    },
    apiUrl,
    clock,
  )
  expect(watched.offMs()).toBeUndefined()
  for (const _ of dates) await watched.http({ method, url, timeoutMs: 1, answerBytesMax: 1 })
  return watched.offMs()
}

test('the middle between question and answer is compared with the Date of the first answer', async () => {
  expect(await offAfter({}, atNoon)).toBe(2000)
  const later = new Date(noon + minute).toUTCString()
  expect(await offAfter({}, null, later, atNoon)).toBe(6000 - minute)
})

test('Google tells the time where it gives tokens, and by the Sheets API', async () => {
  const url = `${apiUrl}/v4/spreadsheets/x`
  expect(await offAfter({ method: 'GET', url }, atNoon)).toBe(2000)
  expect(await offAfter({}, null, 'soon')).toBeUndefined()
})

test.each([
  ['GET', `${apiUrl}/computeMetadata/v1/instance/service-accounts/default/token`],
  ['PUT', 'http://169.254.169.254/latest/api/token'],
] as const)('%s %s may have the clock of this machine', async (method, url) => {
  expect(await offAfter({ method, url }, atNoon)).toBeUndefined()
})
